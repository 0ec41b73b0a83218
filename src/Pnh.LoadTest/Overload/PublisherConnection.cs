using System.Diagnostics;
using System.Net;
using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Overload;

/// <summary>One keep-alive connection with one request under way at most: a publisher of its own. Connects again when it broke.</summary>
internal sealed class PublisherConnection : ClientConnection
{
    private readonly IPEndPoint _server;
    private readonly Action<PublisherConnection, int, int> _answered;
    private readonly byte[] _request;
    private readonly long[] _heldUntil = new long[Mix.Classes.Length];
    private bool _isBusy;

    /// <param name="loop">That serves it.</param>
    /// <param name="server">Where the hub listens.</param>
    /// <param name="index">Its number.</param>
    /// <param name="requestBytes">Of the longest request.</param>
    /// <param name="answered">Told its status and Retry-After in seconds: status 0 = the connection broke, -1 = the answer had no such field.</param>
    public PublisherConnection(Loop loop, IPEndPoint server, int index, int requestBytes, Action<PublisherConnection, int, int> answered)
        : base(loop)
    {
        (_server, Index, _answered, _request) = (server, index, answered, new byte[requestBytes]);
        Connect(server, null);
    }

    public int Index { get; }

    public bool Stands { get; private set; }

    /// <summary>What was sent last.</summary>
    public Due Due { get; private set; }

    /// <summary>Its number.</summary>
    public long Number { get; private set; }

    /// <summary>When it was.</summary>
    public long Written { get; private set; }

    /// <summary>True while a refusal's Retry-After asks this publisher to keep the class back.</summary>
    public bool Holds(int @class, long now) => now < _heldUntil[@class];

    /// <summary>Keeps the class back for so many seconds from now.</summary>
    public void Hold(int @class, int seconds) => _heldUntil[@class] = Stopwatch.GetTimestamp() + (seconds * Stopwatch.Frequency);

    /// <summary>Sends one event; nothing is under way.</summary>
    public void Post(EventRequest request, long number, in Due due)
    {
        (Due, Number, _isBusy) = (due, number, true);
        request.Write(_request, number, due.User, due.Time);
        Written = Stopwatch.GetTimestamp();
        Send(_request.AsSpan(0, request.Length));
    }

    protected override void Connected() => Stands = true;

    protected override int Receive(ReadOnlySpan<byte> bytes)
    {
        if (!ClientAnswer.TryRead(bytes, out var status, out _, out var length))
        {
            return 0;
        }

        if (_isBusy)
        {
            _isBusy = false;
            _answered(this, status, status is 429 or 503 ? RetryAfter(bytes[..length]) : -1);
        }

        return length;
    }

    protected override void Lost()
    {
        var wasBusy = _isBusy;
        (Stands, _isBusy) = (false, false);
        Connect(_server, null);
        if (wasBusy)
        {
            _answered(this, 0, -1);
        }
    }

    private static int RetryAfter(ReadOnlySpan<byte> answer)
    {
        var at = answer.IndexOf("\r\nRetry-After: "u8);
        return at < 0 ? -1 : (int)MessagePayload.Number(answer[(at + 15)..]);
    }
}
