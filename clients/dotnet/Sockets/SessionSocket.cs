using System.Net.WebSockets;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace Pnh.Client.Sockets;

/// <summary>A connection's frames as JSON. One reader; any thread sends.</summary>
internal sealed class SessionSocket : IDisposable
{
    /// <summary>Each join is answered topic by topic.</summary>
    public const string KnowsJoined = "joined";

    /// <summary>What the user did with an event is confirmed.</summary>
    public const string KnowsConfirmed = "confirmed";

    /// <summary>An event may be taken by its id.</summary>
    public const string KnowsTaken = "taken";

    /// <summary>The time between beats may be changed.</summary>
    public const string KnowsBeat = "beat";

    /// <summary>The hub tells how much was missed.</summary>
    public const string KnowsMissed = "missed";

    private const int LargestFrame = 1024 * 1024;
    /// <summary>From the dial to the welcome, whatever the network does in between.</summary>
    public static readonly TimeSpan WelcomeWithin = TimeSpan.FromSeconds(15);

    private readonly ClientWebSocket _socket = new();
    private readonly SemaphoreSlim _sending = new(1);
    private readonly TimeProvider _time;
    private long _dialedAt;
    private TimeSpan? _patience;
    private CancellationTokenSource? _silence; // of the read that is under way
    private byte[] _buffer = new byte[16 * 1024];

    public SessionSocket(TimeProvider time)
    {
        _time = time;
        _socket.Options.AddSubProtocol("pnh.v1");
        _socket.Options.KeepAliveInterval = TimeSpan.Zero; // the hub asks whether we live
    }

    /// <summary>How long nothing may come before the connection counts as lost; null = before the welcome.</summary>
    public TimeSpan? Patience
    {
        get => _patience;
        set
        {
            _patience = value;
            try
            {
                Volatile.Read(ref _silence)?.CancelAfter(value ?? Timeout.InfiniteTimeSpan); // also for what is being read
            }
            catch (ObjectDisposedException)
            {
                // It was read meanwhile.
            }
        }
    }

    /// <summary>Why it ended: the hub's close code; 0 = it broke.</summary>
    public PnhEnd End => new((int?)_socket.CloseStatus ?? 0, _socket.CloseStatusDescription ?? "");

    public async Task ConnectAsync(Uri address, CancellationToken cancellationToken)
    {
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        _dialedAt = _time.GetTimestamp();
        patience.CancelAfter(WelcomeWithin);
        await _socket.ConnectAsync(address, patience.Token).ConfigureAwait(false);
    }

    /// <summary>The next frame; null = the hub closed. Throws <see cref="WebSocketException"/> or <see cref="OperationCanceledException"/> when the connection is lost.</summary>
    public async ValueTask<HubFrame?> ReadAsync(CancellationToken cancellationToken)
    {
        var left = Patience ?? WelcomeWithin - _time.GetElapsedTime(_dialedAt);
        using var silence = new CancellationTokenSource(left < TimeSpan.Zero && left != Timeout.InfiniteTimeSpan ? TimeSpan.Zero : left, _time);
        Volatile.Write(ref _silence, silence);
        using var both = CancellationTokenSource.CreateLinkedTokenSource(silence.Token, cancellationToken);
        var length = 0;
        while (true)
        {
            var part = await _socket.ReceiveAsync(_buffer.AsMemory(length), both.Token).ConfigureAwait(false);
            if (part.MessageType == WebSocketMessageType.Close)
            {
                return null;
            }

            length += part.Count;
            if (part.EndOfMessage)
            {
                return JsonSerializer.Deserialize(_buffer.AsSpan(0, length), PnhJson.Default.HubFrame);
            }

            if (length == _buffer.Length)
            {
                Array.Resize(ref _buffer, length < LargestFrame ? length * 2 : throw new WebSocketException("The hub sent a frame of more than 1 MB."));
            }
        }
    }

    /// <summary>False = the connection is lost.</summary>
    public async ValueTask<bool> TrySendAsync<T>(T frame, JsonTypeInfo<T> type, CancellationToken cancellationToken)
    {
        var json = JsonSerializer.SerializeToUtf8Bytes(frame, type);
        await _sending.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            await _socket.SendAsync(json.AsMemory(), WebSocketMessageType.Text, endOfMessage: true, cancellationToken).ConfigureAwait(false);
            return true;
        }
        catch (Exception fault) when (fault is WebSocketException or InvalidOperationException or ObjectDisposedException
            || (fault is OperationCanceledException && !cancellationToken.IsCancellationRequested))
        {
            // A socket that broke while it sends calls that a cancellation.
            return false;
        }
        finally
        {
            _sending.Release();
        }
    }

    /// <summary>Closes from this side, and does not wait for the hub. 1000 ends the session, another code leaves it to be resumed.</summary>
    public async ValueTask CloseAsync(int code, string why)
    {
        try
        {
            using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(1), _time);
            await _socket.CloseOutputAsync((WebSocketCloseStatus)code, why, patience.Token).ConfigureAwait(false);
        }
        catch (Exception fault) when (fault is WebSocketException or InvalidOperationException or OperationCanceledException or ObjectDisposedException)
        {
            // It was lost already.
        }
    }

    // The semaphore holds nothing, and somebody may be about to release it.
    public void Dispose() => _socket.Dispose();
}
