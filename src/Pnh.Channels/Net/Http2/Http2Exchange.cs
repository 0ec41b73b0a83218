using System.Buffers;
using System.Threading.Tasks.Sources;
using Pnh.Channels.Net.Http;

namespace Pnh.Channels.Net.Http2;

/// <summary>Where a request stands. Changes under the connection's lock only.</summary>
internal enum ExchangeState : byte
{
    /// <summary>Waits for a stream.</summary>
    Waiting,

    /// <summary>The writer reads its request outside the lock: an end that comes now waits for the writer.</summary>
    Writing,

    /// <summary>Its answer is awaited; of its body there may be a rest to send.</summary>
    Open,

    /// <summary>Ended; the rest is the caller's.</summary>
    Done,
}

/// <summary>
/// One request and its answer: the state of a stream, and the source of the caller's task. Serves one request after another; the version tells
/// them apart. All members but the task's are the connection's, under its lock.
/// </summary>
internal sealed class Http2Exchange : IValueTaskSource<ProviderAnswer>
{
    private readonly Http2Connection _connection;
    private ManualResetValueTaskSourceCore<bool> _core;
    private CancellationToken _cancellation;
    private CancellationTokenRegistration _registration;
    private byte[]? _body;
    private int _bodyLength;

    public Http2Exchange(Http2Connection connection) => _connection = connection;

    /// <summary>Neighbours in the one list that it is in: waiting, under way, or free.</summary>
    public Http2Exchange? Next;

    public Http2Exchange? Previous;

    public ProviderRequest Request;

    public ExchangeState State;

    public int Stream;

    /// <summary>Bytes of the request's body sent, the batch being written included.</summary>
    public int BodySent;

    public int BodyLength;

    /// <summary>What the peer's windows still allow on this stream; below zero after it made its initial window smaller.</summary>
    public int SendWindow;

    /// <summary>Bytes of DATA frames received, padding included.</summary>
    public int Received;

    /// <summary>Headers are out.</summary>
    public bool IsSent;

    /// <summary>Waits for window to send the rest of its body.</summary>
    public bool IsBlocked;

    /// <summary>The end came while the writer was at it.</summary>
    public bool IsEndPending;

    /// <summary>Ended by its own token.</summary>
    public bool IsCanceled;

    /// <summary>The code of the RST_STREAM that goes with the end; NoError = none.</summary>
    public Http2ErrorCode Reset;

    public SendFault Fault;

    public string? FaultReason;

    public int Status;

    public AnswerHeaders Headers;

    /// <summary>Bytes of the answer's body so far.</summary>
    public int AnswerLength => _bodyLength;

    public ValueTask<ProviderAnswer> Task => new(this, _core.Version);

    public void Begin(in ProviderRequest request)
    {
        Request = request;
        State = ExchangeState.Waiting;
        Stream = BodySent = Received = Status = 0;
        BodyLength = request.BodyLength;
        IsSent = IsBlocked = IsEndPending = IsCanceled = false;
        Reset = Http2ErrorCode.NoError;
    }

    /// <summary>Called once, before the caller has the task.</summary>
    public void CancelWith(CancellationToken cancellationToken)
    {
        _cancellation = cancellationToken;
        _registration = cancellationToken.UnsafeRegister(
            static state => ((Http2Exchange)state!)._connection.Cancel((Http2Exchange)state!), this);
    }

    /// <summary>Adds to the answer's body.</summary>
    public void Append(ReadOnlySpan<byte> bytes)
    {
        if (bytes.IsEmpty)
        {
            return;
        }

        if (_body is null || _body.Length - _bodyLength < bytes.Length)
        {
            var larger = ArrayPool<byte>.Shared.Rent(Math.Max(512, (_bodyLength + bytes.Length) * 2));
            _body.AsSpan(0, _bodyLength).CopyTo(larger);
            Give(_body);
            _body = larger;
        }

        bytes.CopyTo(_body.AsSpan(_bodyLength));
        _bodyLength += bytes.Length;
    }

    /// <summary>Runs the caller's continuation.</summary>
    public void Complete() => _core.SetResult(true);

    ProviderAnswer IValueTaskSource<ProviderAnswer>.GetResult(short token)
    {
        _core.GetResult(token);
        var cancellation = _cancellation;

        // Unregistering fails when the token's callback runs now or ran: it might still look at this object, which then serves nobody else.
        var isFree = !cancellation.CanBeCanceled || _registration.Unregister();
        var isCanceled = IsCanceled;
        var answer = isCanceled ? default : TakeAnswer();
        Clear();
        if (isFree)
        {
            _connection.Recycle(this);
        }

        return isCanceled ? throw new OperationCanceledException(cancellation) : answer;
    }

    ValueTaskSourceStatus IValueTaskSource<ProviderAnswer>.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource<ProviderAnswer>.OnCompleted(
        Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);

    private ProviderAnswer TakeAnswer()
    {
        if (Fault != SendFault.None)
        {
            return ProviderAnswer.Failed(Fault, FaultReason!);
        }

        var body = _body;
        _body = null;
        return new ProviderAnswer(Status, body, _bodyLength)
        {
            RetryAfter = Headers.RetryAfter,
            Date = Headers.Date,
            Location = Headers.Location,
            ApnsId = Headers.ApnsId,
            ApnsUniqueId = Headers.ApnsUniqueId,
        };
    }

    /// <summary>Keeps nothing of the caller's alive.</summary>
    private void Clear()
    {
        _core.Reset();
        Give(_body);
        _body = null;
        _bodyLength = 0;
        _registration = default;
        _cancellation = default;
        Request = default;
        Headers = default;
    }

    private static void Give(byte[]? buffer)
    {
        if (buffer is not null)
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }
}
