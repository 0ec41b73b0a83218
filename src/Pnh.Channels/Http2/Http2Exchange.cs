using System.Threading.Tasks.Sources;

namespace Pnh.Channels.Http2;

/// <summary>Where a request stands. Changes under the connection's lock only.</summary>
internal enum ExchangeState : byte
{
    /// <summary>Waits for a stream.</summary>
    Queued,

    /// <summary>The writer reads its request outside the lock: an end that comes now waits for the writer.</summary>
    Writing,

    /// <summary>Its answer is awaited; of its body there may be a rest to send.</summary>
    Open,

    /// <summary>Ended; the answer is the caller's.</summary>
    Done,
}

/// <summary>
/// One request and its answer: the state of a stream, and the source of the caller's task. Used for one request after another; the version
/// tells them apart. All members but those of the task are the connection's, under its lock.
/// </summary>
internal sealed class Http2Exchange : IValueTaskSource<Http2Answer>
{
    private readonly Http2Connection _connection;
    private ManualResetValueTaskSourceCore<Http2Answer> _core;
    private CancellationTokenRegistration _registration;
    private bool _registered;
    private bool _spoiled;

    public Http2Exchange(Http2Connection connection) => _connection = connection;

    public short Version => _core.Version;

    public AnswerContent Content { get; } = new();

    /// <summary>Neighbours in the one list that it is in: waiting, under way, or free.</summary>
    public Http2Exchange? Next { get; set; }

    public Http2Exchange? Previous { get; set; }

    public Http2Request Request;

    public ExchangeState State;

    /// <summary>Timestamp of <see cref="Http2Connection.SendAsync"/>.</summary>
    public long Since;

    public int Stream;

    /// <summary>Bytes of the body sent or in the batch being written.</summary>
    public int BodySent;

    public int BodyLength;

    /// <summary>What the peer's windows still allow on this stream; below zero after it made its initial window smaller.</summary>
    public int SendWindow;

    /// <summary>Bytes of DATA frames received, padding included.</summary>
    public int Received;

    /// <summary>Headers are out.</summary>
    public bool Sent;

    /// <summary>Waits for window to send the rest of its body.</summary>
    public bool Blocked;

    /// <summary>The end came while the writer was at it.</summary>
    public bool EndPending;

    /// <summary>The code of the RST_STREAM that goes with <see cref="EndPending"/>; NoError = none.</summary>
    public Http2ErrorCode Reset;

    public Http2Outcome Outcome;

    public Http2ErrorCode ErrorCode;

    public int Status;

    public bool IsCut;

    public ValueTask<Http2Answer> Task => new(this, _core.Version);

    public void Begin(in Http2Request request, long now)
    {
        Request = request;
        State = ExchangeState.Queued;
        Since = now;
        Stream = 0;
        BodySent = 0;
        BodyLength = request.Body.Length;
        Received = 0;
        Status = 0;
        Sent = Blocked = EndPending = IsCut = false;
        ErrorCode = Reset = Http2ErrorCode.NoError;
    }

    /// <summary>Called once, before the caller has the task.</summary>
    public void CancelWith(CancellationToken cancellationToken)
    {
        _registered = true;
        _registration = cancellationToken.UnsafeRegister(
            static state => ((Http2Exchange)state!)._connection.Cancel((Http2Exchange)state!), this);
    }

    /// <summary>Runs the caller's continuation.</summary>
    public void Complete() => _core.SetResult(new Http2Answer(this, _core.Version));

    /// <summary>The caller is done with the answer: the exchange may serve another request.</summary>
    public void Release(short version)
    {
        if (_core.Version != version)
        {
            return;
        }

        _core.Reset();
        Content.Clear();
        Request = default;
        if (!_spoiled)
        {
            _connection.Recycle(this);
        }
    }

    Http2Answer IValueTaskSource<Http2Answer>.GetResult(short token)
    {
        var answer = _core.GetResult(token);
        if (_registered)
        {
            // False: the token's callback runs now or ran. It might still look at this object, which therefore serves nobody else.
            _spoiled = !_registration.Unregister();
            _registered = false;
            _registration = default;
        }

        return answer;
    }

    ValueTaskSourceStatus IValueTaskSource<Http2Answer>.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource<Http2Answer>.OnCompleted(
        Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);
}
