using System.Net.WebSockets;
using System.Text.Json;
using System.Threading.Channels;
using Pnh.Client.Reports;

namespace Pnh.Client.Sockets;

/// <summary>Why a connection ended.</summary>
/// <param name="Code">The hub's close code, or one of this end; 0 = it broke.</param>
/// <param name="Why">For a person.</param>
/// <param name="After">When to come back; null = after a wait that grows.</param>
internal sealed record SessionLoss(int Code, string Why, TimeSpan? After = null);

/// <summary>One connection of a session: hello, then events to their handler, one after the other, and acks. The reader goes on while a handler works, as the hub asks whether the client lives.</summary>
internal sealed class SessionConnection : IDisposable
{
    private const int Drained = 4000;
    private const int TokenExpired = 4002;
    private const int HandlerFailed = 4999;
    private const int AcksBehind = 20;
    private static readonly TimeSpan BeatGrace = TimeSpan.FromSeconds(8);
    private static readonly TimeSpan RenewedAfter = TimeSpan.FromSeconds(5); // a session that lived so long needs a new token now, and not a wait
    private readonly PnhSessionOptions _options;
    private readonly SessionProgress _progress;
    private readonly Wants _wants;
    private readonly Action<string, bool> _opened;
    private readonly SessionSocket _socket;
    private readonly Channel<HubFrame> _frames = Channel.CreateUnbounded<HubFrame>(new UnboundedChannelOptions { SingleReader = true, SingleWriter = true }); // the hub sends 256 at most before it wants acks
    private SessionLoss? _loss;
    private TimeSpan? _drainAfter;
    private long _openedAt;
    private long _ackedSeq;
    private volatile bool _isOpen;

    public SessionConnection(PnhSessionOptions options, SessionProgress progress, Wants wants, Action<string, bool> opened)
    {
        _options = options;
        _progress = progress;
        _wants = wants;
        _opened = opened;
        _socket = new SessionSocket(options.Time);
    }

    /// <summary>Runs until the connection ends; cancelled, it ends the session.</summary>
    public async Task<SessionLoss> RunAsync(string token, CancellationToken cancellationToken)
    {
        try
        {
            await _socket.ConnectAsync(_options.Address, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception fault) when (fault is WebSocketException or OperationCanceledException)
        {
            return new SessionLoss(0, fault.Message);
        }

        var resume = _progress.Session is { } session ? new ResumeMembers(session, _progress.HandledSeq) : null;
        await _socket.TrySendAsync(new HelloFrame("hello", token, _options.Device, _wants.SayHello(), true, [SessionSocket.KnowsJoined], resume), PnhJson.Default.HelloFrame, cancellationToken).ConfigureAwait(false);
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var reading = ReadAsync(ending.Token);
        await HandleAsync(cancellationToken).ConfigureAwait(false);
        _isOpen = false;
        if (cancellationToken.IsCancellationRequested)
        {
            await _socket.CloseAsync(1000, "").ConfigureAwait(false);
        }
        else if (_loss is { Code: HandlerFailed } failed)
        {
            await AckAsync(cancellationToken).ConfigureAwait(false);
            await _socket.CloseAsync(failed.Code, failed.Why).ConfigureAwait(false);
        }

        await ending.CancelAsync().ConfigureAwait(false);
        await reading.ConfigureAwait(false);
        return _loss ?? new SessionLoss(0, "the connection broke");
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
    }

    /// <summary>False when nobody hears it now.</summary>
    public ValueTask<bool> TrySayAsync(ClientFrame frame) =>
        _isOpen ? _socket.TrySendAsync(frame, PnhJson.Default.ClientFrame, CancellationToken.None) : ValueTask.FromResult(false);

    public void Dispose() => _socket.Dispose();

    private async Task ReadAsync(CancellationToken cancellationToken)
    {
        try
        {
            while (await _socket.ReadAsync(cancellationToken).ConfigureAwait(false) is { } frame)
            {
                switch (frame.Type)
                {
                    case "drain":
                        _drainAfter = TimeSpan.FromSeconds(frame.After ?? 0);
                        break;
                    case "joined": // no event's handler holds it up
                        _wants.Answered(frame).ForEach(refusal => _options.OnError?.Invoke(refusal));
                        await SayWantsAsync().ConfigureAwait(false);
                        break;
                    default:
                        _frames.Writer.TryWrite(frame);
                        break;
                }
            }

            Lose(Judge(_socket.End));
        }
        catch (OperationCanceledException)
        {
            Lose(new SessionLoss(SessionSocket.Silent, "nothing came for a while"));
        }
        catch (Exception fault) when (fault is WebSocketException or JsonException or ObjectDisposedException)
        {
            Lose(new SessionLoss(0, fault.Message));
        }
        finally
        {
            _frames.Writer.TryComplete();
        }
    }

    private SessionLoss Judge(PnhEnd end) => end.Code switch
    {
        Drained when _drainAfter is { } after => new SessionLoss(end.Code, "the node goes away", after),
        TokenExpired when _openedAt != 0 && _options.Time.GetElapsedTime(_openedAt) > RenewedAfter => new SessionLoss(end.Code, "the token expired", TimeSpan.Zero),
        _ => new SessionLoss(end.Code, end.Reason.Length > 0 ? end.Reason : $"the connection was lost ({end.Code})"),
    };

    private void Lose(SessionLoss loss) => Interlocked.CompareExchange(ref _loss, loss, null);

    // What was read of a connection that is gone meanwhile is not handled: it comes again.
    private async Task HandleAsync(CancellationToken cancellationToken)
    {
        try
        {
            while (await _frames.Reader.WaitToReadAsync(cancellationToken).ConfigureAwait(false))
            {
                while (_loss is null && _frames.Reader.TryRead(out var frame))
                {
                    await TakeAsync(frame, cancellationToken).ConfigureAwait(false);
                }

                if (_loss is not null)
                {
                    return;
                }
            }
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            // The session ends.
        }
    }

    private async ValueTask TakeAsync(HubFrame frame, CancellationToken cancellationToken)
    {
        switch (frame.Type)
        {
            case "welcome":
                await OpenedAsync(frame).ConfigureAwait(false);
                break;
            case "event" or "withdraw":
                await GiveAsync(frame, cancellationToken).ConfigureAwait(false);
                break;
            case "error":
                _options.OnError?.Invoke(new PnhException(0, frame.Code ?? "", frame.Message ?? ""));
                break;
        }
    }

    private async ValueTask OpenedAsync(HubFrame welcome)
    {
        var isResumed = welcome.Resumed == true;
        _progress.Opened(welcome.Session!, welcome.Seq ?? 0, isResumed);
        _wants.Opened(welcome);
        _ackedSeq = welcome.Seq ?? 0;
        _openedAt = _options.Time.GetTimestamp();
        _socket.Patience = welcome.Beat is { } beat ? TimeSpan.FromSeconds(beat) + BeatGrace : Timeout.InfiniteTimeSpan;
        _isOpen = true;
        _opened(welcome.Session!, isResumed);
        await SayWantsAsync().ConfigureAwait(false);
    }

    private async ValueTask GiveAsync(HubFrame frame, CancellationToken cancellationToken)
    {
        if (!await _progress.TryHandleAsync(frame, cancellationToken).ConfigureAwait(false))
        {
            Lose(new SessionLoss(HandlerFailed, "a handler failed"));
        }
        else if (!_frames.Reader.TryPeek(out _) || _progress.HandledSeq - _ackedSeq >= AcksBehind)
        {
            await AckAsync(cancellationToken).ConfigureAwait(false);
        }
    }

    private async ValueTask AckAsync(CancellationToken cancellationToken)
    {
        var seq = _progress.HandledSeq;
        if (seq > _ackedSeq && await _socket.TrySendAsync(new ClientFrame("ack", Seq: seq), PnhJson.Default.ClientFrame, cancellationToken).ConfigureAwait(false))
        {
            _ackedSeq = seq;
        }
    }
}
