using System.Net;
using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Clients;

/// <summary>A user's WebSocket session: opens as its peer wants it, hands deliveries on, acknowledges once per read.</summary>
internal sealed class ClientSession : ClientConnection
{
    private readonly Peer _peer;
    private readonly Fleet _fleet;
    private byte[] _begun = [];
    private bool _isUpgraded;
    private long _acknowledge;
    private long _mayRepeat;

    /// <param name="fleet">Whose it is.</param>
    /// <param name="peer">What it speaks.</param>
    /// <param name="user">The user's stream.</param>
    /// <param name="streams">What it must get; a channel peer subscribes to the last.</param>
    public ClientSession(Fleet fleet, Peer peer, int user, StreamCheck[] streams)
        : base(fleet.Loop)
    {
        _fleet = fleet;
        _peer = peer;
        User = user;
        Streams = streams;
    }

    public int User { get; }

    public StreamCheck[] Streams { get; }

    /// <summary>The highest number that the hub gave to a frame of this session.</summary>
    public long Received { get; private set; }

    /// <summary>The session's id when it may be resumed by the next <see cref="Open"/>; null = it begins anew.</summary>
    public string? Resumable { get; set; }

    public bool IsReady { get; private set; }

    /// <summary>The id that the last welcome gave; null = none.</summary>
    public string? Id { get; private set; }

    public bool WasResumed { get; private set; }

    /// <summary>When its peer last had it say something of its own accord; Stopwatch ticks.</summary>
    public long SpokeAt { get; set; }

    public void Open(IPEndPoint server, IPAddress? from)
    {
        _isUpgraded = false;
        _begun = [];
        IsReady = false;
        Connect(server, from);
    }

    /// <summary>The peer is done with opening it.</summary>
    public void Ready()
    {
        if (!IsReady)
        {
            IsReady = true;
            _fleet.Opened();
        }
    }

    public void Welcome(string id, bool resumed)
    {
        Id = id;
        WasResumed = resumed;
        Received = resumed ? Received : 0;
        _mayRepeat = Received;
    }

    /// <summary>A message that holds events; <paramref name="hasId"/>: with the ids that they were given.</summary>
    public void Deliver(ReadOnlySpan<byte> message, bool hasId = false)
    {
        while (MessagePayload.TryRead(message, out var stream, out var sequence, out var due, out var end))
        {
            if (!_fleet.Contents.IsAsSent(message, end, hasId))
            {
                _fleet.Arrivals.Mismatch();
            }

            _fleet.Arrivals.Take(Streams, stream, sequence, due);
            message = message[end..];
        }
    }

    /// <summary>The message at hand has this number, and wants to be acknowledged. Numbers come one after the other; only a resumed session may get again what it had.</summary>
    public void Acknowledge(long sequence)
    {
        if (sequence != Received + 1 && sequence > _mayRepeat)
        {
            _fleet.Arrivals.Mismatch();
        }

        Received = Math.Max(Received, sequence);
        _acknowledge = Received;
    }

    protected override void Connected() => Send(_peer.Upgrade(this));

    protected override int Receive(ReadOnlySpan<byte> bytes)
    {
        var used = 0;
        if (!_isUpgraded)
        {
            if (!ClientAnswer.TryRead(bytes, out var status, out _, out used))
            {
                return 0;
            }

            if (status != 101)
            {
                throw new InvalidDataException($"the upgrade was answered {status}");
            }

            _isUpgraded = true;
            _peer.Upgraded(this);
        }

        while (Frames.TryRead(bytes[used..], out var opcode, out var payload, out var length))
        {
            var isLast = Frames.IsLast(bytes[used]);
            used += length;
            Take(opcode, payload, isLast);
        }

        if (_acknowledge > 0)
        {
            Span<byte> frame = stackalloc byte[64];
            Send(frame[.._peer.Acknowledge(frame, _acknowledge)]);
            _acknowledge = 0;
        }

        return used;
    }

    protected override void Lost() => _fleet.Lost(this, IsReady);

    private void Take(int opcode, ReadOnlySpan<byte> payload, bool isLast)
    {
        if (opcode is Frames.Text or Frames.More)
        {
            TakeText(payload, isLast);
        }
        else if (opcode == Frames.Ping)
        {
            Span<byte> pong = stackalloc byte[136];
            Send(pong[..Frames.Write(pong, Frames.Pong, payload)]);
        }
        else if (opcode == Frames.Close)
        {
            // RFC 6455, section 5.5.1: answered with the same code; the server then ends the connection.
            _fleet.Closing(payload);
            Span<byte> answer = stackalloc byte[Frames.MostHead + 125];
            Send(answer[..Frames.Write(answer, Frames.Close, payload[..Math.Min(2, payload.Length)])]);
        }
    }

    // SignalR breaks what waited long into pieces.
    private void TakeText(ReadOnlySpan<byte> payload, bool isLast)
    {
        if (isLast && _begun.Length == 0)
        {
            _peer.Read(this, payload);
            return;
        }

        _begun = [.. _begun, .. payload];
        if (isLast)
        {
            var message = _begun;
            _begun = [];
            _peer.Read(this, message);
        }
    }
}
