using System.Net;

namespace Pnh.LoadTest.Wire;

/// <summary>What a POST carried. Times are Stopwatch ticks.</summary>
/// <param name="Stream">For whom, or its topic; of the first event of a batch.</param>
/// <param name="Sequence">Its number within the stream.</param>
/// <param name="Due">When it should have left.</param>
/// <param name="HasId">Whether its answer must name it.</param>
internal readonly record struct Posted(int Stream, long Sequence, long Due, bool HasId = false);

/// <summary>Where answers go. Status 0 = the connection broke.</summary>
internal delegate void Answered(PostConnection connection, Posted posted, int status, ReadOnlySpan<byte> body);

/// <summary>A keep-alive HTTP/1.1 connection with at most one POST in flight. Connects again when it broke.</summary>
internal sealed class PostConnection : ClientConnection
{
    private readonly IPEndPoint _server;
    private readonly Answered _answered;
    private readonly byte[] _buffer = new byte[2048];
    private byte[]? _early;
    private Posted? _inFlight;
    private bool _stands;

    public PostConnection(Loop loop, IPEndPoint server, int index, Answered answered)
        : base(loop)
    {
        _server = server;
        Index = index;
        _answered = answered;
        Connect(server, null);
    }

    /// <summary>Its number among the publishers.</summary>
    public int Index { get; }

    public bool IsBusy => _inFlight is not null;

    /// <summary>Sends one event; nothing is in flight.</summary>
    public void Post(Template template, Posted posted)
    {
        var request = _buffer.AsSpan(0, template.Length);
        template.Write(request, posted.Stream, posted.Sequence, posted.Due);
        Post(request, posted);
    }

    /// <summary>Sends a whole request; nothing is in flight.</summary>
    public void Post(ReadOnlySpan<byte> request, Posted posted)
    {
        _inFlight = posted;
        if (_stands)
        {
            Send(request);
        }
        else
        {
            _early = request.ToArray();
        }
    }

    protected override void Connected()
    {
        _stands = true;
        if (_early is { } request)
        {
            _early = null;
            Send(request);
        }
    }

    protected override int Receive(ReadOnlySpan<byte> bytes)
    {
        if (!ClientAnswer.TryRead(bytes, out var status, out var body, out var length))
        {
            return 0;
        }

        var posted = _inFlight ?? throw new InvalidDataException($"an answer that nobody waits for, status {status}");
        _inFlight = null;
        _answered(this, posted, status, body);
        return length;
    }

    protected override void Lost()
    {
        _stands = false;
        var posted = _inFlight;
        _inFlight = null;
        _early = null;
        Connect(_server, null);
        if (posted is { } lost)
        {
            _answered(this, lost, 0, default);
        }
    }
}
