using System.Collections.Concurrent;
using Pnh.Client.Sockets;

namespace Pnh.ClientScenes;

/// <summary>A session of the .NET client: the scene gives its tokens, and says of each event when it is handled and whether that failed.</summary>
internal sealed class SceneSession : IAsyncDisposable
{
    private static readonly TimeSpan LookForTopics = TimeSpan.FromMilliseconds(200);
    private readonly ConcurrentDictionary<string, TaskCompletionSource<string?>> _asking = new();
    private readonly ConcurrentDictionary<string, TaskCompletionSource> _handling = new();
    private readonly CancellationTokenSource _ending = new();
    private readonly string _user;
    private readonly Action<Report> _tell;
    private readonly PnhSession _session;
    private readonly Task _running;

    public SceneSession(Order open, Action<Report> tell)
    {
        (_user, _tell) = (open.User, tell);
        _session = new PnhSession(new PnhSessionOptions { Address = open.Url!, Device = open.Device!, Token = GetTokenAsync, OnEvent = HandleAsync, OnConnection = Become });
        _running = RunAsync(open.Topics ?? []);
    }

    /// <summary>The answer to a question; null = the back-end failed.</summary>
    public void Give(string question, string? token)
    {
        if (_asking.TryRemove(question, out var asking))
        {
            asking.TrySetResult(token);
        }
    }

    public void Handled(string id, bool hasFailed)
    {
        if (_handling.TryRemove(id, out var handling))
        {
            _ = hasFailed ? handling.TrySetException(new NotSupportedException("not now")) : handling.TrySetResult();
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _ending.CancelAsync();
        await _running;
        _ending.Dispose();
    }

    private async Task RunAsync(string[] topics)
    {
        var running = _session.RunAsync(_ending.Token);
        var joining = _session.JoinAsync(topics).AsTask();
        IReadOnlyCollection<string> told = [];
        while (!running.IsCompleted)
        {
            await Task.WhenAny(running, Task.Delay(LookForTopics));
            var joined = _session.Joined;
            if (!joined.SequenceEqual(told))
            {
                _tell(new Report("joined", _user, Topics: told = joined));
            }
        }

        try
        {
            await joining;
            _tell(new Report("status", _user, Status: "closed", Reason: (await running).Reason));
        }
        catch (OperationCanceledException) when (_ending.IsCancellationRequested)
        {
            _tell(new Report("status", _user, Status: "closed"));
        }
    }

    private async ValueTask<string> GetTokenAsync(CancellationToken cancellationToken)
    {
        var question = Guid.NewGuid().ToString();
        var asking = _asking[question] = new TaskCompletionSource<string?>(TaskCreationOptions.RunContinuationsAsynchronously);
        _tell(new Report("token", _user, question));
        return await asking.Task.WaitAsync(cancellationToken) ?? throw new HttpRequestException("the back-end failed");
    }

    private async ValueTask HandleAsync(PnhMessage message, CancellationToken cancellationToken)
    {
        var handling = _handling[message.Id] = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _tell(new Report("event", _user, message.Id));
        await handling.Task.WaitAsync(cancellationToken);
    }

    // Its end is told with its reason, above.
    private void Become(PnhConnection now)
    {
        if (now.Status != PnhStatus.Closed)
        {
            _tell(new Report("status", _user, Status: now.Status.ToString().ToLowerInvariant(), Resumed: now.Status == PnhStatus.Open ? now.Resumed : null, Reason: now.Reason));
        }
    }
}
