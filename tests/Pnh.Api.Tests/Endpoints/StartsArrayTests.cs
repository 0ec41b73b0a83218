using System.IO.Pipelines;
using System.Text;
using Pnh.Api.DirectHttp;
using Pnh.Api.Ingest;

namespace Pnh.Api.Tests.Endpoints;

/// <summary>Looking for the first character of a body that may begin with blanks without end.</summary>
public sealed class StartsArrayTests
{
    private const int Blanks = 4 * 1024 * 1024;
    private const int Piece = 16 * 1024;

    [Theory]
    [InlineData("[7]", 0)]
    [InlineData("{}", 0)]
    [InlineData("[7]", 100)]
    [InlineData("{}", 100)]
    [InlineData("", 100)]
    [InlineData("", 0)]
    public async Task StartsArrayAsync_MegabytesOfBlanks_HoldsFewOfThemAndLeavesTheRest(string body, int prefix)
    {
        var pipe = new Pipe();
        var reader = new Measured(new PrefixedReader(Encoding.ASCII.GetBytes(new string('\n', prefix)), pipe.Reader));
        var starts = EventBatches.StartsArrayAsync(reader, CancellationToken.None, CancellationToken.None).AsTask();
        var blanks = Encoding.ASCII.GetBytes(string.Concat(Enumerable.Repeat(" \t\r\n", Piece / 4)));
        for (var written = 0; written < Blanks; written += Piece)
        {
            await pipe.Writer.WriteAsync(blanks);
        }

        await pipe.Writer.WriteAsync(Encoding.ASCII.GetBytes(body));
        await pipe.Writer.CompleteAsync();

        Assert.Equal(body.StartsWith('['), await starts);
        Assert.InRange(reader.Most, 1, 512 * 1024); // the pipe itself lets its writer run 64 kB ahead
        var rest = await reader.ReadAsync();
        Assert.Equal((body, true), (Encoding.ASCII.GetString(rest.Buffer), rest.IsCompleted));
    }

    [Theory]
    [InlineData("   [7]", true)]
    [InlineData("   7]", false)]
    public async Task StartsArrayAsync_AllThere_ConsumesTheBlanksOnly(string body, bool expected)
    {
        var pipe = new Pipe();
        await pipe.Writer.WriteAsync(Encoding.ASCII.GetBytes(body[1..]));
        var reader = new PrefixedReader(Encoding.ASCII.GetBytes(body[..1]), pipe.Reader);

        Assert.Equal(expected, await EventBatches.StartsArrayAsync(reader, CancellationToken.None, CancellationToken.None));
        Assert.True(reader.TryRead(out var rest));
        Assert.Equal(body.TrimStart(), Encoding.ASCII.GetString(rest.Buffer));
    }

    /// <summary>Notes the most that was ever held.</summary>
    private sealed class Measured(PipeReader inner) : PipeReader
    {
        public long Most { get; private set; }

        public override async ValueTask<ReadResult> ReadAsync(CancellationToken cancellationToken = default)
        {
            var read = await inner.ReadAsync(cancellationToken);
            Most = Math.Max(Most, read.Buffer.Length);
            return read;
        }

        public override bool TryRead(out ReadResult result) => inner.TryRead(out result);

        public override void AdvanceTo(SequencePosition consumed) => inner.AdvanceTo(consumed);

        public override void AdvanceTo(SequencePosition consumed, SequencePosition examined) => inner.AdvanceTo(consumed, examined);

        public override void CancelPendingRead() => inner.CancelPendingRead();

        public override void Complete(Exception? exception = null) => inner.Complete(exception);
    }
}
