using System.Buffers;
using System.IO.Pipelines;
using Pnh.Api.Ingest;
using Pnh.Core.Events;
using Pnh.Core.Hubs;

namespace Pnh.Api.Tests.Endpoints;

public sealed class PlanWriterTests
{
    [Fact]
    public async Task WriteAsync_ManyUsers_LeavesInPieces()
    {
        var reader = new EventReader(ClassPolicies.Default, ["websocket"]);
        var accepted = reader.Read("""{"to":{"topic":"t"}}"""u8.ToArray(), new EventOrigin("demo", DateTimeOffset.UnixEpoch, 0), [])!;
        var output = new CountingPipe();

        var users = Enumerable.Range(0, 5_000).Select(static i => new UserPlan($"user-{i}", [])).ToArray();
        await PlanWriter.WriteAsync(output, accepted, new EventPlan(users, null, null), CancellationToken.None);

        Assert.InRange(output.Written, 200_000, 1_000_000);
        Assert.InRange(output.LargestPiece, 1, 32 * 1024);
    }

    private sealed class CountingPipe : PipeWriter
    {
        private readonly ArrayBufferWriter<byte> _unflushed = new();

        public long Written { get; private set; }

        public long LargestPiece { get; private set; }

        public override void Advance(int bytes) => _unflushed.Advance(bytes);

        public override Memory<byte> GetMemory(int sizeHint = 0) => _unflushed.GetMemory(sizeHint);

        public override Span<byte> GetSpan(int sizeHint = 0) => _unflushed.GetSpan(sizeHint);

        public override ValueTask<FlushResult> FlushAsync(CancellationToken cancellationToken = default)
        {
            LargestPiece = Math.Max(LargestPiece, _unflushed.WrittenCount);
            Written += _unflushed.WrittenCount;
            _unflushed.Clear();
            return ValueTask.FromResult(default(FlushResult));
        }

        public override void CancelPendingFlush()
        {
        }

        public override void Complete(Exception? exception = null)
        {
        }
    }
}
