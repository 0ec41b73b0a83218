using Pnh.Channels.Net.Epoll;
using Pnh.Channels.WebSockets.Rfc6455;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Server;

/// <summary>
/// A connection that speaks RFC 6455 itself over a <see cref="LoopSocket"/>: frames are read out of the loop's buffer, and written by the
/// thread that has one to send, into the kernel. What the kernel does not take is kept until there is room. This part is the reading, on the loop's thread.
/// </summary>
internal sealed partial class DirectConnection : Connection, ILoopClient
{
    /// <summary>Holds acks and states with their mask off; longer messages get a buffer.</summary>
    private const int ScratchBytes = 256;

    /// <summary>Pings answered one by one in one turn; of more only the newest, as RFC 6455 section 5.5.3 allows.</summary>
    private const int PongsPerTurn = 16;

    private readonly LoopSocket _socket;
    private readonly WebSocketServer _server;
    private FrameReader _reader;
    private volatile bool _isBusy;
    private bool _isDeaf;

    public DirectConnection(
        LoopSocket socket, WebSocketServer server, ServerParts parts, ClientCredential? header, ConnectionPeer peer, CancellationToken stopping)
        : base(parts, header, peer, stopping)
    {
        _socket = socket;
        _server = server;
        _reader = new FrameReader(parts.Options.MaxMessageBytes);
        _heardAt = parts.Clock.GetTimestamp();
    }

    /// <inheritdoc/>
    public int Receive(LoopSocket socket, ReadOnlySpan<byte> bytes)
    {
        _hasHeard = true;
        Span<byte> scratch = stackalloc byte[ScratchBytes];
        var used = 0;
        var pings = 0;
        while (used < bytes.Length && !_isBusy && !_isDeaf)
        {
            var read = _reader.Read(bytes[used..], scratch, out var found, out var content);
            used += read;
            switch (found)
            {
                case Received.Nothing when read == 0:
                    return used;
                case Received.Nothing:
                    break;
                case Received.Pong or Received.Piece:
                    CountFrame();
                    break;
                case Received.Ping when CountFrame():
                    Answer(content, ++pings <= PongsPerTurn);
                    break;
                case Received.Ping:
                    break;
                case Received.Closed:
                    ReceiveClose(content);
                    break;
                case Received.Broken:
                    FailFraming(CloseFrames.ProtocolError);
                    break;
                case Received.NotText:
                    FailFraming(CloseFrames.NotText);
                    break;
                default:
                    Handle(found, content);
                    break;
            }

            _reader.Release();
        }

        // Each time: the end of a message before may resume reading when this one is under way already. Its own end resumes after this.
        if (_isBusy)
        {
            _socket.PauseReading();
        }

        WritePong();
        return _isDeaf ? bytes.Length : used;
    }

    /// <inheritdoc/>
    public bool Ended(LoopSocket socket) => false; // without a close frame it is lost; with one, all is said

    /// <inheritdoc/>
    public void Closed(LoopSocket socket)
    {
        if (TryBeginClose(SessionEnds.Lost))
        {
            NoteLost("the connection broke");
        }

        Finish();
        _isDeaf = true;
        _reader.Clear();
        EndSession();
        _server.Forget(this);
    }

    // Must not throw, whatever the hub does.
    private void Handle(Received received, ReadOnlySpan<byte> message)
    {
        try
        {
            var handling = HandleAsync(received, message);
            if (handling.IsCompletedSuccessfully)
            {
                return;
            }

            _isBusy = true;
            _ = FinishAsync(handling); // never throws
        }
        catch (Exception failure)
        {
            Fail(failure);
        }
    }

    // A hello or a send that the hub thinks about: nothing else is read meanwhile.
    private async Task FinishAsync(ValueTask handling)
    {
        try
        {
            await handling;
        }
        catch (Exception failure)
        {
            Fail(failure);
        }

        if (IsClosing)
        {
            EndSession(); // of a connection that was lost or closed before it had one
        }

        _isBusy = false;
        _socket.ResumeReading();
    }
}
