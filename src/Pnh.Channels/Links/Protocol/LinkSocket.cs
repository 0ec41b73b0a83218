using System.Net.WebSockets;
using Pnh.Core.Timing;

namespace Pnh.Channels.Links.Protocol;

/// <summary>
/// Carries the items of one end over a WebSocket until either end is no more. One writer and one reader, both always at work: with no read pending the framework hears no close. No call gets a token that can
/// fire, as that would abort the socket in the middle of a frame. A beat each second; three seconds without a byte end it, since a ping of the framework's waits behind megabytes.
/// </summary>
internal sealed class LinkSocket : IDisposable
{
    private const string Broke = "the connection broke";
    private const string Closed = "the other end closed it";
    private static readonly TimeSpan BeatEvery = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Silence = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan HelloWithin = TimeSpan.FromSeconds(5);
    private readonly WebSocket _socket;
    private readonly LinkQueue _output;
    private readonly TimeProvider _time;
    private readonly IDisposable _beat;
    private readonly ITimer _silence;
    private long _heardAt;
    private long _bytesIn;
    private long _bytesOut;
    private string? _end;

    /// <param name="socket">Open; the caller's to dispose.</param>
    /// <param name="output">What goes to the other end.</param>
    /// <param name="time">Paces the beats.</param>
    public LinkSocket(WebSocket socket, LinkQueue output, TimeProvider time)
    {
        _socket = socket;
        _output = output;
        _time = time;
        _heardAt = time.GetTimestamp();
        _silence = time.CreateTimer(static link => ((LinkSocket)link!).LookForSilence(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        _beat = SecondHand.Each(time, Beat);
    }

    /// <summary>Awaited before each read: completes when what comes next can be taken. What it throws is a bug, and ends the link.</summary>
    public Func<Task> UntilRoomAsync { get; init; } = static () => Task.CompletedTask;

    /// <summary>Bytes of items that came.</summary>
    public long BytesIn => Volatile.Read(ref _bytesIn);

    /// <summary>Bytes of items that were given to the socket.</summary>
    public long BytesOut => Volatile.Read(ref _bytesOut);

    /// <summary>Runs until an end is no more; the output has ended then. Returns why, in a few words.</summary>
    /// <param name="receive">Takes each item but beats; what it throws as <see cref="LinkFormatException"/> ends the link.</param>
    public async Task<string> RunAsync(Action<LinkItemKind, ReadOnlyMemory<byte>> receive)
    {
        var reading = ReadAsync(receive);
        var writing = WriteAsync();
        await Task.WhenAny(reading, writing);
        if (!reading.IsCompleted)
        {
            // All that was to be said is said: the other end has a moment to hear it and to close.
            await Task.WhenAny(reading, Task.Delay(BeatEvery, _time));
        }

        _output.End();
        Abort("this end closed it");
        await Task.WhenAll(reading, writing);
        return _end!;
    }

    /// <summary>Ends it when the other end has not been greeted within 5 s, unless the answer is disposed of before. For the end that was dialled.</summary>
    public ITimer ExpectHello(Func<bool> isGreeted) => _time.CreateTimer(
        _ =>
        {
            if (!isGreeted())
            {
                Abort("no hello within 5 s");
            }
        },
        null,
        HelloWithin,
        Timeout.InfiniteTimeSpan);

    /// <summary>Ends it at once. The first reason is kept.</summary>
    public void Abort(string why)
    {
        Interlocked.CompareExchange(ref _end, why, null);
        _socket.Abort();
    }

    /// <summary>True when the other end was gone: a dial that broke, or was given up, and nothing that it said.</summary>
    public static bool IsGone(string why) => why is Broke or Closed;

    /// <summary>The end of a link through a bug of this end, in words.</summary>
    public static string Failed(Exception bug) => $"this end failed: {bug}";

    /// <summary>Stops the beats.</summary>
    public void Dispose()
    {
        _beat.Dispose();
        _silence.Dispose();
    }

    private async Task ReadAsync(Action<LinkItemKind, ReadOnlyMemory<byte>> receive)
    {
        var input = new LinkInput();
        try
        {
            while (true)
            {
                await UntilRoomAsync();
                var received = await _socket.ReceiveAsync(input.Free, CancellationToken.None);
                Volatile.Write(ref _heardAt, _time.GetTimestamp());
                if (received.MessageType != WebSocketMessageType.Binary)
                {
                    Interlocked.CompareExchange(ref _end, received.MessageType == WebSocketMessageType.Close ? Closed : "a text frame came", null);
                    return;
                }

                Volatile.Write(ref _bytesIn, _bytesIn + received.Count);
                input.Advance(received.Count);
                while (input.TryTake(out var kind, out var members))
                {
                    if (kind != LinkItemKind.Beat)
                    {
                        receive(kind, members);
                    }
                }
            }
        }
        catch (LinkFormatException fault)
        {
            Interlocked.CompareExchange(ref _end, fault.Message, null);
        }
        catch (Exception fault) when (IsBroken(fault))
        {
            Interlocked.CompareExchange(ref _end, Broke, null);
        }
        catch (Exception bug)
        {
            // The next connection says all sessions again, so that is what a fault of ours comes to.
            Interlocked.CompareExchange(ref _end, Failed(bug), null);
        }
    }

    private async Task WriteAsync()
    {
        try
        {
            while (await _output.TakeAsync() is { IsEmpty: false } batch)
            {
                await _socket.SendAsync(batch, WebSocketMessageType.Binary, endOfMessage: true, CancellationToken.None);
                Volatile.Write(ref _bytesOut, _bytesOut + batch.Length);
            }

            await _socket.CloseOutputAsync(WebSocketCloseStatus.NormalClosure, null, CancellationToken.None);
        }
        catch (Exception fault) when (IsBroken(fault))
        {
            Interlocked.CompareExchange(ref _end, Broke, null);
        }
    }

    private void Beat()
    {
        _output.Begin(LinkItemKind.Beat).Dispose();
        if (_time.GetElapsedTime(Volatile.Read(ref _heardAt)) > BeatEvery)
        {
            LookForSilence();
        }
    }

    // A beat is late. The end comes when the silence is over, and not with one of our own beats after that.
    private void LookForSilence()
    {
        var left = Silence - _time.GetElapsedTime(Volatile.Read(ref _heardAt));
        if (left <= TimeSpan.Zero)
        {
            Abort("nothing came for 3 s");
        }
        else if (left < BeatEvery)
        {
            _silence.Change(left, Timeout.InfiniteTimeSpan);
        }
    }

    private static bool IsBroken(Exception fault) => fault is WebSocketException or OperationCanceledException or IOException or ObjectDisposedException or InvalidOperationException;
}
