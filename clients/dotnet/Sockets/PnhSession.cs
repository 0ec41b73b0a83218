using System.Text.Json.Nodes;
using Pnh.Client.Events;
using Pnh.Client.Http;

namespace Pnh.Client.Sockets;

/// <summary>
/// A device's session: a socket that comes back by itself, and handles each event once. <see cref="RunAsync"/> runs it; the other methods may be called by any thread meanwhile. Protocol: <c>pnh.v1</c>.
/// </summary>
public sealed class PnhSession
{
    private readonly PnhSessionOptions _options;
    private readonly SessionProgress _progress;
    private readonly Wants _wants;
    private readonly Tokens _tokens;
    private SessionConnection? _connection;
    private (string App, string User)? _speaker;
    private Task _handling = Task.CompletedTask;
    private readonly BackOff _backOff = new(TimeSpan.FromMilliseconds(500), TimeSpan.FromSeconds(30));
    private bool _isRunning;

    private static readonly TimeSpan LongEnough = TimeSpan.FromSeconds(10); // a session that lived so long was no failure
    private static readonly TimeSpan LastHandler = TimeSpan.FromSeconds(5);

    /// <summary>Connects when it is run.</summary>
    public PnhSession(PnhSessionOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        _options = options;
        _progress = new SessionProgress(options);
        _tokens = new Tokens(options);
        _wants = new Wants(options.IsActive, (int)options.Beat.TotalSeconds);
    }

    /// <summary>What the connection is now.</summary>
    public PnhStatus Status { get; private set; } = PnhStatus.Closed;

    /// <summary>
    /// Holds the session until the hub says not to come back, and tells why. Throws <see cref="OperationCanceledException"/> when it is cancelled, after the session was ended, and
    /// <see cref="InvalidOperationException"/> when it runs already.
    /// </summary>
    public async Task<PnhEnd> RunAsync(CancellationToken cancellationToken)
    {
        if (Interlocked.Exchange(ref _isRunning, true))
        {
            throw new InvalidOperationException("The session runs already.");
        }

        _handling = _progress.Events.RunAsync(BeginAsync, AckAsync, cancellationToken);
        try
        {
            while (true)
            {
                Become(new PnhConnection(PnhStatus.Connecting));
                var loss = await ConnectAsync(cancellationToken).ConfigureAwait(false);
                cancellationToken.ThrowIfCancellationRequested();
                if (loss.IsFinal)
                {
                    return new PnhEnd(loss.Code ?? 0, loss.Reason) { Why = loss.Why, Help = HelpOf(loss) };
                }

                var wait = WaitAfter(loss);
                Become(new PnhConnection(PnhStatus.Waiting, Wait: wait, Why: loss.Why) { Reason = loss.Reason, Code = loss.Code, Help = HelpOf(loss) });
                await Task.Delay(wait, _options.Time, cancellationToken).ConfigureAwait(false);
            }
        }
        finally
        {
            _isRunning = false;
            _progress.Answers.Drop();
            Become(new PnhConnection(PnhStatus.Closed));
        }
    }

    /// <summary>The topics that the hub has confirmed. An older hub confirms nothing: then those that it was asked for.</summary>
    public IReadOnlyCollection<string> Joined => _wants.Joined;

    /// <summary>
    /// Wants the topics' events, in this session and in those after it. What the hub refuses comes to <see cref="PnhSessionOptions.OnError"/>, with <see cref="Reports.PnhException.Topics"/>, and is asked for again on
    /// the next connection. Throws <see cref="ArgumentException"/> for what is no name of a topic.
    /// </summary>
    public ValueTask JoinAsync(params IEnumerable<string> topics)
    {
        _wants.Join([.. topics]);
        return SayWantsAsync();
    }

    /// <summary>And no longer.</summary>
    public ValueTask LeaveAsync(params IEnumerable<string> topics)
    {
        _wants.Leave(topics);
        return SayWantsAsync();
    }

    /// <summary>The app came to the front, or left it.</summary>
    public ValueTask SetActiveAsync(bool isActive)
    {
        _wants.IsActive = isActive;
        return SayWantsAsync();
    }

    /// <summary>
    /// The user answered the event here: it ends on the user's other devices. Said again on each connection until the hub has it: then true. False = it never will: the session ended, or a hundred came after it.
    /// An older hub confirms nothing: then true says that it was sent.
    /// </summary>
    /// <param name="id">The event's.</param>
    /// <param name="answer">The app's word, 1 to 64 characters.</param>
    public ValueTask<bool> AnswerAsync(string id, string answer) => AnswerAsync(new ClientFrame("answer", Id: id, As: answer));

    /// <summary>The user saw it here: the same, without an answer.</summary>
    public ValueTask<bool> SeenAsync(string id) => AnswerAsync(new ClientFrame("seen", Id: id));

    /// <summary>True while a call is expected: the hub is heard from each 10 s, and a connection that died in silence is found within 18 s.</summary>
    public ValueTask ExpectCallsAsync(bool areExpected)
    {
        _wants.ExpectsCalls = areExpected;
        return SayWantsAsync();
    }

    /// <summary>Publishes, where the app allows clients to. False when nobody hears it now; a refusal comes to <see cref="PnhSessionOptions.OnError"/>.</summary>
    /// <param name="to">A user or a topic.</param>
    /// <param name="data">Any JSON; null = none.</param>
    /// <param name="class">The event's class; null = the app's.</param>
    public ValueTask<bool> PublishAsync(PnhTarget to, JsonNode? data, PnhClass? @class = null) => SayAsync(new ClientFrame("send", To: to, Data: data, Class: @class));

    private Uri? HelpOf(SessionLoss loss) =>
        loss.Help is { } help ? new Uri(new UriBuilder(_options.Address) { Scheme = _options.Address.Scheme.Replace("ws", "http", StringComparison.Ordinal) }.Uri, help) : null;

    // What is final, and what is tried again and when: the table in PROTOCOL.md.
    private TimeSpan WaitAfter(SessionLoss loss)
    {
        var hasLived = loss.Lived > LongEnough;
        if (hasLived)
        {
            _backOff.Reset();
        }

        if (loss.IsOfToken || loss.IsRefusedTopics)
        {
            _tokens.Refuse();
        }

        return loss.After ?? (loss.Code == SessionLoss.TokenExpired && hasLived ? TimeSpan.Zero : _backOff.Next());
    }

    private async Task<SessionLoss> ConnectAsync(CancellationToken cancellationToken)
    {
        string token;
        try
        {
            token = await _tokens.GetAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (Exception fault) when (!cancellationToken.IsCancellationRequested)
        {
            return new SessionLoss("no-token", $"no token: {fault.Message}");
        }

        _speaker ??= _tokens.Speaker;
        return _speaker == _tokens.Speaker
            ? await ConnectAsync(token, cancellationToken).ConfigureAwait(false)
            : new SessionLoss(SessionLoss.OtherUser, "the token is of another user");
    }

    private async Task<SessionLoss> ConnectAsync(string token, CancellationToken cancellationToken)
    {
        using var connection = new SessionConnection(_options, _progress, _wants, Opened);
        Volatile.Write(ref _connection, connection);
        try
        {
            return await connection.RunAsync(token).WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            await Task.WhenAny(_handling, Task.Delay(LastHandler, _options.Time, CancellationToken.None)).ConfigureAwait(false);
            await connection.EndAsync().ConfigureAwait(false);
            throw;
        }
        finally
        {
            Volatile.Write(ref _connection, null);
            _progress.Events.Cut();
        }
    }

    private void Opened(string session, bool isResumed) => Become(new PnhConnection(PnhStatus.Open, session, isResumed));

    private void Become(PnhConnection now)
    {
        Status = now.Status;
        _options.Tell(now);
    }

    private ValueTask BeginAsync(HubFrame frame) => Volatile.Read(ref _connection)?.BeginAsync(frame) ?? ValueTask.CompletedTask;

    private ValueTask AckAsync(bool isIdle) => Volatile.Read(ref _connection)?.AckAsync(isIdle) ?? ValueTask.CompletedTask;

    private async ValueTask<bool> AnswerAsync(ClientFrame frame)
    {
        if (!Volatile.Read(ref _isRunning))
        {
            return false;
        }

        var kept = _progress.Answers.Add(frame);
        if (Volatile.Read(ref _connection) is { } connection)
        {
            await connection.SayAnswerAsync(frame).ConfigureAwait(false);
        }

        return await kept.ConfigureAwait(false);
    }

    private async ValueTask SayWantsAsync()
    {
        if (Volatile.Read(ref _connection) is { } connection)
        {
            await connection.SayWantsAsync().ConfigureAwait(false);
        }
    }

    private ValueTask<bool> SayAsync(ClientFrame frame) => Volatile.Read(ref _connection)?.TrySayAsync(frame) ?? ValueTask.FromResult(false);
}
