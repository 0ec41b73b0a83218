using System.Buffers;
using System.IO.Pipelines;

namespace Pnh.Api.DirectHttp;

/// <summary>A connection's two ways, the incoming one with bytes in front.</summary>
internal sealed class PrefixedPipe(PipeReader input, PipeWriter output) : IDuplexPipe
{
    public PipeReader Input { get; } = input;

    public PipeWriter Output { get; } = output;
}

/// <summary>
/// What had arrived before the reader existed, then the reader. Until the reader of this one has looked at all of the prefix it gets only that;
/// then, while some of it is not used, both as one sequence; afterwards the inner reader's own results. As <see cref="PipeReader"/> not
/// thread-safe, but for <see cref="CancelPendingRead"/>.
/// </summary>
internal sealed class PrefixedReader : PipeReader
{
    private readonly PipeReader _inner;
    private ReadOnlyMemory<byte> _prefix;
    private ReadOnlySequence<byte> _given;
    private ReadOnlySequence<byte> _innerGiven;
    private bool _isExamined;
    private bool _isJoined;

    /// <param name="prefix">Not changed from now on; may be empty.</param>
    /// <param name="inner">What follows it.</param>
    public PrefixedReader(ReadOnlyMemory<byte> prefix, PipeReader inner)
    {
        _prefix = prefix;
        _inner = inner;
    }

    /// <inheritdoc/>
    public override bool TryRead(out ReadResult result)
    {
        if (_prefix.IsEmpty)
        {
            return _inner.TryRead(out result);
        }

        if (!_isExamined)
        {
            result = Prefix();
            return true;
        }

        var isThere = _inner.TryRead(out result);
        result = isThere ? Join(result) : result;
        return isThere;
    }

    /// <inheritdoc/>
    public override ValueTask<ReadResult> ReadAsync(CancellationToken cancellationToken = default) =>
        _prefix.IsEmpty ? _inner.ReadAsync(cancellationToken)
        : _isExamined ? ReadBothAsync(cancellationToken)
        : new ValueTask<ReadResult>(Prefix());

    /// <inheritdoc/>
    public override void AdvanceTo(SequencePosition consumed) => AdvanceTo(consumed, consumed);

    /// <inheritdoc/>
    public override void AdvanceTo(SequencePosition consumed, SequencePosition examined)
    {
        if (_prefix.IsEmpty)
        {
            _inner.AdvanceTo(consumed, examined);
            return;
        }

        var used = _given.Slice(0, consumed).Length;
        var seen = _given.Slice(0, examined).Length;
        var left = _prefix[(int)Math.Min(used, _prefix.Length)..];
        _isExamined |= seen >= _prefix.Length;
        if (_isJoined)
        {
            _isJoined = false;
            _inner.AdvanceTo(
                _innerGiven.GetPosition(Math.Max(0, used - _prefix.Length)), _innerGiven.GetPosition(Math.Max(0, seen - _prefix.Length)));
        }

        _prefix = left;
        _given = default;
        _innerGiven = default;
    }

    /// <summary>Ends the read that waits, or the first one that would have to.</summary>
    public override void CancelPendingRead() => _inner.CancelPendingRead();

    /// <inheritdoc/>
    public override void Complete(Exception? exception = null) => _inner.Complete(exception);

    /// <inheritdoc/>
    public override ValueTask CompleteAsync(Exception? exception = null) => _inner.CompleteAsync(exception);

    private async ValueTask<ReadResult> ReadBothAsync(CancellationToken cancellationToken) => Join(await _inner.ReadAsync(cancellationToken));

    private ReadResult Prefix()
    {
        _given = new ReadOnlySequence<byte>(_prefix);
        return new ReadResult(_given, isCanceled: false, isCompleted: false);
    }

    private ReadResult Join(ReadResult inner)
    {
        var first = new Piece(_prefix, null);
        var last = first;
        foreach (var memory in inner.Buffer)
        {
            last = new Piece(memory, last);
        }

        _isJoined = true;
        _innerGiven = inner.Buffer;
        _given = new ReadOnlySequence<byte>(first, 0, last, last.Memory.Length);
        return new ReadResult(_given, inner.IsCanceled, inner.IsCompleted);
    }

    private sealed class Piece : ReadOnlySequenceSegment<byte>
    {
        public Piece(ReadOnlyMemory<byte> memory, Piece? before)
        {
            Memory = memory;
            if (before is not null)
            {
                RunningIndex = before.RunningIndex + before.Memory.Length;
                before.Next = this;
            }
        }
    }
}
