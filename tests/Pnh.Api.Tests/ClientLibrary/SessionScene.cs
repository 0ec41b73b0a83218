using System.Collections.Concurrent;
using Pnh.Api.Tests.EndToEnd;
using Pnh.Client.Sockets;

namespace Pnh.Api.Tests.ClientLibrary;

/// <summary>A hub, a wire that can be cut, and what sessions of lin's device told.</summary>
internal sealed class SessionScene : IAsyncDisposable
{
    private readonly CancellationTokenSource _stopping = new();

    private SessionScene(TestHub hub) => (Hub, Wire) = (hub, new CutWire(hub.Host.PublicAddress));

    public TestHub Hub { get; }

    public CutWire Wire { get; }

    public ConcurrentQueue<PnhConnection> Connections { get; } = new();

    public ConcurrentQueue<Exception> Errors { get; } = new();

    public ConcurrentQueue<string> Handled { get; } = new();

    public ConcurrentQueue<PnhWithdrawal> Withdrawn { get; } = new();

    public ConcurrentQueue<PnhMissed> Missed { get; } = new();

    /// <summary>Why it had to wait, each time.</summary>
    public IEnumerable<string?> Reasons => Connections.Where(static one => one.Status == PnhStatus.Waiting).Select(static one => one.Reason);

    public static async Task<SessionScene> StartAsync()
    {
        var scene = new SessionScene(await TestHub.StartAsync());
        Assert.Equal(201, (await scene.Hub.SendAsync("PUT", "/v1/users/lin/devices/tab", """{"platform":"desktop"}""")).Status);
        return scene;
    }

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await Wire.DisposeAsync();
        await Hub.DisposeAsync();
        _stopping.Dispose();
    }

    public Task<PnhEnd> RunAsync(PnhSession session, out PnhSession same)
    {
        same = session;
        return session.RunAsync(_stopping.Token);
    }

    public PnhSession Session(
        Func<string, bool>? fails = null, Func<string>? token = null, Uri? address = null, Func<string, Task>? handles = null, Action<PnhConnection>? connection = null, Action<Exception>? error = null,
        Func<PnhWithdrawal, ValueTask>? withdraw = null) => new(new PnhSessionOptions
        {
            Address = address ?? new Uri($"ws://127.0.0.1:{Wire.Port}/v1/socket"),
            Token = _ => ValueTask.FromResult(token is null ? Hub.OldToken("lin", TimeSpan.Zero, null, "room") : token()),
            Device = "tab",
            OnEvent = async (message, _) =>
            {
                if (fails?.Invoke(message.Id) == true)
                {
                    throw new NotSupportedException("not now");
                }

                await (handles?.Invoke(message.Id) ?? Task.CompletedTask);
                Handled.Enqueue(message.Id);
            },
            OnWithdraw = (withdrawal, _) =>
            {
                Withdrawn.Enqueue(withdrawal);
                return withdraw?.Invoke(withdrawal) ?? ValueTask.CompletedTask;
            },
            OnMissed = (missed, _) =>
            {
                Missed.Enqueue(missed);
                return ValueTask.CompletedTask;
            },
            OnConnection = now =>
            {
                Connections.Enqueue(now);
                connection?.Invoke(now);
            },
            OnError = fault =>
            {
                Errors.Enqueue(fault);
                error?.Invoke(fault);
            },
        });

    public async Task OpenAsync() => await TestHub.EventuallyAsync(() => Connections.LastOrDefault()?.Status, static status => status == PnhStatus.Open);

    public async Task PostAsync(string id, int ttl = 3600) =>
        Assert.Equal(202, (await Hub.SendAsync("POST", "/v1/events", $$"""{"id":"{{id}}","to":{"user":"lin"},"class":"message","ttl":{{ttl}}}""")).Status);

    public async Task StopAsync(Task running)
    {
        await _stopping.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => running.WaitAsync(TimeSpan.FromSeconds(30)));
    }
}
