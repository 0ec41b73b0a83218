using System.Net.WebSockets;
using System.Text.Json;

namespace Pnh.Client.Sockets;

/// <summary>Why there is no connection.</summary>
/// <param name="Reason">A stable word, as PROTOCOL.md has it.</param>
/// <param name="Why">The same for a person.</param>
/// <param name="Code">The close code; 0 = it broke; null = it was never dialed.</param>
internal sealed record SessionLoss(string Reason, string Why, int? Code = null)
{
    private static readonly string[] FinalProblems = ["other-origin", "other-device"]; // which no other token mends

    /// <summary>How long the session was open; null = it had no welcome.</summary>
    public TimeSpan? Lived { get; init; }

    /// <summary>The token did not allow topics: the next one may.</summary>
    public bool IsRefusedTopics { get; init; }

    /// <summary>Where the hub's documents speak of it; null = it did not say.</summary>
    public string? Help { get; init; }

    /// <summary>When the hub wants the client back; null = it does not say.</summary>
    public TimeSpan? After { get; init; }

    /// <summary>Another token may be taken.</summary>
    public bool IsOfToken => Code is 4002 or 4007 || (Code == 4501 && !FinalProblems.Contains(Reason));

    /// <summary>No other try could go better.</summary>
    public bool IsFinal => Reason == OtherUser || (Code is >= 4500 and < 5000 && !IsOfToken);

    public const string OtherUser = "other-user";
    public const int TokenExpired = 4002;
}

/// <summary>One connection of a session, from the dial to its end: hello, then what comes, and acks. It waits for no handler.</summary>
internal sealed class SessionConnection : IDisposable
{
    private const int Drained = 4000;
    private const int AcksBehind = 20;
    private static readonly TimeSpan BeatGrace = TimeSpan.FromSeconds(8);
    private readonly PnhSessionOptions _options;
    private readonly SessionProgress _progress;
    private readonly Wants _wants;
    private readonly Action<string, bool> _opened;
    private readonly SessionSocket _socket;
    private readonly CancellationTokenSource _ending = new();
    private Task<SessionLoss>? _reading;
    private HubFrame? _problem; // the error that came last, which a close may follow
    private TimeSpan? _drainAfter;
    private long _openedAt;
    private long _ackedSeq;
    private volatile bool _hasWelcome;
    private volatile bool _isOpen;
    private bool _isRefused;
    private volatile string[] _knows = [];
    private int _beat;

    public SessionConnection(PnhSessionOptions options, SessionProgress progress, Wants wants, Action<string, bool> opened)
    {
        _options = options;
        _progress = progress;
        _wants = wants;
        _opened = opened;
        _socket = new SessionSocket(options.Time);
    }

    /// <summary>Runs until the connection ends.</summary>
    public Task<SessionLoss> RunAsync(string token) => _reading = ReadAsync(token);

    /// <summary>Ends the session from this side, with what was handled.</summary>
    public async Task EndAsync()
    {
        await AckAsync(isIdle: true).ConfigureAwait(false);
        await _socket.CloseAsync(1000, "").ConfigureAwait(false);
        await _ending.CancelAsync().ConfigureAwait(false);
        await _reading!.ConfigureAwait(false);
    }

    /// <summary>Says what the hub does not know of the app's wants yet.</summary>
    public async ValueTask SayWantsAsync()
    {
        if (!_isOpen)
        {
            return; // said with the welcome
        }

        foreach (var frame in _wants.TakeNews())
        {
            await TrySayAsync(frame).ConfigureAwait(false);
        }

        if (Knows(SessionSocket.KnowsBeat) && _beat != _wants.Beat)
        {
            _beat = _wants.Beat;
            await TrySayAsync(new ClientFrame("beat", Every: _beat)).ConfigureAwait(false);
            _socket.Patience = TimeSpan.FromSeconds(_beat) + BeatGrace;
        }
    }

    /// <summary>False when nobody hears it now.</summary>
    public ValueTask<bool> TrySayAsync(ClientFrame frame) =>
        _isOpen ? _socket.TrySendAsync(frame, PnhJson.Default.ClientFrame, CancellationToken.None) : ValueTask.FromResult(false);

    /// <summary>Says what the user did. An older hub confirms nothing: then it is said.</summary>
    public async ValueTask SayAnswerAsync(ClientFrame frame)
    {
        if (await TrySayAsync(frame).ConfigureAwait(false) && !Knows(SessionSocket.KnowsConfirmed))
        {
            _progress.Answers.Confirm(frame.Type, frame.Id!);
        }
    }

    /// <summary>A call is taken by its id: what came before it may wait for its handler, and a push would ring beside it.</summary>
    public async ValueTask BeginAsync(HubFrame frame)
    {
        if (frame.Class == "call" && Knows(SessionSocket.KnowsTaken))
        {
            await TrySayAsync(new ClientFrame("taken", Id: frame.Id)).ConfigureAwait(false);
        }
    }

    /// <summary>Says how far events were handled, when nothing waits behind the last or many have been.</summary>
    public async ValueTask AckAsync(bool isIdle)
    {
        var seq = _progress.Events.Seq;
        if (!_hasWelcome || seq - _ackedSeq < (isIdle ? 1 : AcksBehind))
        {
            return;
        }

        _ackedSeq = seq;
        await _socket.TrySendAsync(new ClientFrame("ack", Seq: seq), PnhJson.Default.ClientFrame, CancellationToken.None).ConfigureAwait(false);
    }

    public void Dispose()
    {
        _socket.Dispose();
        _ending.Dispose();
    }

    private async Task<SessionLoss> ReadAsync(string token)
    {
        try
        {
            await _socket.ConnectAsync(_options.Address, _ending.Token).ConfigureAwait(false);
            var resume = _progress.Session is { } session ? new ResumeMembers(session, _progress.Events.Seq) : null;
            var hello = new HelloFrame("hello", token, _options.Device, _wants.SayHello(), true,
                [SessionSocket.KnowsJoined, SessionSocket.KnowsConfirmed, SessionSocket.KnowsTaken, SessionSocket.KnowsBeat, SessionSocket.KnowsMissed], resume);
            await _socket.TrySendAsync(hello, PnhJson.Default.HelloFrame, _ending.Token).ConfigureAwait(false);
            while (await _socket.ReadAsync(_ending.Token).ConfigureAwait(false) is { } frame)
            {
                await TakeAsync(frame).ConfigureAwait(false);
            }

            return Judge(_socket.End);
        }
        catch (OperationCanceledException)
        {
            return _hasWelcome ? Lost("silent", "nothing came for a while") : Lost("no-answer", $"no welcome within {SessionSocket.WelcomeWithin.TotalSeconds} s");
        }
        catch (Exception fault) when (fault is WebSocketException or JsonException or ObjectDisposedException)
        {
            return Lost(_hasWelcome ? "lost" : "no-connection", fault.Message);
        }
        finally
        {
            _isOpen = false;
        }
    }

    private async ValueTask TakeAsync(HubFrame frame)
    {
        _problem = frame.Type == "error" ? frame : null;
        switch (frame.Type)
        {
            case "welcome":
                await OpenedAsync(frame).ConfigureAwait(false);
                break;
            case "event" or "withdraw" or "missed":
                _progress.Events.Take(frame);
                break;
            case "joined":
                var refusals = _wants.Answered(frame);
                _isRefused |= refusals.Exists(static refusal => refusal.Code == "not-allowed");
                refusals.ForEach(_options.Fail);
                await SayWantsAsync().ConfigureAwait(false);
                break;
            case "confirmed":
                _progress.Answers.Confirm(frame.Of ?? "", frame.Id ?? "");
                break;
            case "drain":
                _drainAfter = TimeSpan.FromSeconds(frame.After ?? 0);
                break;
            case "error":
                _options.Fail(new Reports.PnhException(0, frame.Code ?? "", frame.Message ?? ""));
                break;
        }
    }

    private SessionLoss Judge(PnhEnd end)
    {
        var code = _problem?.Code ?? (end.Reason.Length > 0 ? end.Reason.Split(" by ")[0].Replace(' ', '-') : "lost");
        var why = _problem?.Message ?? (end.Reason.Length > 0 ? end.Reason : $"the connection was lost ({end.Code})");
        return Lost(code, why, end.Code) with { After = end.Code == Drained ? _drainAfter : null, Help = _problem?.Help };
    }

    private SessionLoss Lost(string reason, string why, int code = 0) => new(reason, why, code) { Lived = _openedAt == 0 ? null : _options.Time.GetElapsedTime(_openedAt), IsRefusedTopics = _isRefused };

    private async ValueTask OpenedAsync(HubFrame welcome)
    {
        var isResumed = welcome.Resumed == true;
        _progress.Opened(welcome.Session!, welcome.Seq ?? 0, isResumed);
        _wants.Opened(welcome);
        _ackedSeq = welcome.Seq ?? 0;
        _openedAt = _options.Time.GetTimestamp();
        _beat = (int)(welcome.Beat ?? 0);
        _knows = welcome.Knows ?? [];
        _socket.Patience = _beat > 0 ? TimeSpan.FromSeconds(_beat) + BeatGrace : Timeout.InfiniteTimeSpan;
        _hasWelcome = _isOpen = true;
        _opened(welcome.Session!, isResumed);
        await SayWantsAsync().ConfigureAwait(false);
        foreach (var answer in _progress.Answers.Frames)
        {
            await SayAnswerAsync(answer).ConfigureAwait(false);
        }
    }

    private bool Knows(string word) => _knows.Contains(word);
}
