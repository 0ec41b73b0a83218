using System.Buffers;
using System.IO.Pipelines;
using Pnh.Api.DirectHttp;

namespace Pnh.Api.Tests.Ingest;

/// <summary>The reader cannot see where the prefix ended.</summary>
public sealed class PrefixedReaderTests
{
    private static readonly byte[] Text = "0123456789abcdef"u8.ToArray();

    [Fact]
    public async Task ReadAsync_AnySplitAnyPace_GivesTheBytesInOrder()
    {
        for (var split = 0; split <= Text.Length; split++)
        {
            for (var chunk = 1; chunk <= 5; chunk++)
            {
                for (var pace = 1; pace <= 6; pace++)
                {
                    var pipe = new Pipe();
                    var reader = new PrefixedReader(Text.AsMemory(0, split), pipe.Reader);
                    var writing = WriteAsync(pipe.Writer, split, chunk);
                    Assert.Equal(Text, await DrainAsync(reader, pace));
                    await writing;
                }
            }
        }
    }

    [Fact]
    public async Task AdvanceTo_EveryPlaceOfTheSeam_KeepsTheRest()
    {
        for (var split = 1; split < Text.Length; split++)
        {
            for (var used = 0; used <= Text.Length; used++)
            {
                var pipe = new Pipe();
                await pipe.Writer.WriteAsync(Text.AsMemory(split));
                var reader = new PrefixedReader(Text.AsMemory(0, split), pipe.Reader);
                var first = await reader.ReadAsync();
                Assert.Equal(Text[..split], first.Buffer.ToArray());
                reader.AdvanceTo(first.Buffer.Start, first.Buffer.End);

                var both = await reader.ReadAsync();
                Assert.Equal(Text, both.Buffer.ToArray());
                reader.AdvanceTo(both.Buffer.GetPosition(used));

                Assert.Equal(used < Text.Length, reader.TryRead(out var rest));
                if (used < Text.Length)
                {
                    // What was examined but is left of the prefix alone is not given again before there is more: here there is, behind it.
                    Assert.Equal(Text[used..], rest.Buffer.ToArray());
                    reader.AdvanceTo(rest.Buffer.End);
                }

                await pipe.Writer.CompleteAsync();
                Assert.True((await reader.ReadAsync()).IsCompleted);
            }
        }
    }

    [Fact]
    public async Task ReadAsync_PrefixLookedAtInPart_GivesItAgainWithoutWaiting()
    {
        var pipe = new Pipe();
        var reader = new PrefixedReader(Text, pipe.Reader);
        var read = await reader.ReadAsync();
        reader.AdvanceTo(read.Buffer.GetPosition(3), read.Buffer.GetPosition(5));

        Assert.True(reader.TryRead(out var again));
        Assert.Equal(Text[3..], again.Buffer.ToArray());
        reader.AdvanceTo(again.Buffer.Start, again.Buffer.End);
        Assert.False(reader.TryRead(out _));
    }

    [Fact]
    public async Task ReadAsync_EndAfterThePrefix_IsToldWithWhatIsLeft()
    {
        var pipe = new Pipe();
        await pipe.Writer.CompleteAsync();
        var reader = new PrefixedReader(Text, pipe.Reader);
        var read = await reader.ReadAsync();
        Assert.False(read.IsCompleted);
        reader.AdvanceTo(read.Buffer.GetPosition(4), read.Buffer.End);

        read = await reader.ReadAsync();

        Assert.Equal((true, Text.Length - 4L), (read.IsCompleted, read.Buffer.Length));
    }

    [Fact]
    public async Task CancelPendingRead_WhileItWaitsBehindThePrefix_EndsTheRead()
    {
        var reader = new PrefixedReader(Text, new Pipe().Reader);
        var read = await reader.ReadAsync();
        reader.AdvanceTo(read.Buffer.Start, read.Buffer.End);
        var waiting = reader.ReadAsync();
        Assert.False(waiting.IsCompleted);

        reader.CancelPendingRead();

        var cancelled = await waiting;
        Assert.Equal((true, Text.Length), (cancelled.IsCanceled, (int)cancelled.Buffer.Length));
    }

    private static async Task WriteAsync(PipeWriter writer, int start, int chunk)
    {
        for (; start < Text.Length; start += chunk)
        {
            await writer.WriteAsync(Text.AsMemory(start, Math.Min(chunk, Text.Length - start)));
            await Task.Yield();
        }

        await writer.CompleteAsync();
    }

    // Takes so many bytes at a time, and only when that many are there or nothing more comes.
    private static async Task<byte[]> DrainAsync(PipeReader reader, int pace)
    {
        var all = new ArrayBufferWriter<byte>();
        while (true)
        {
            var read = await reader.ReadAsync();
            var buffer = read.Buffer;
            if (buffer.Length < pace && !read.IsCompleted)
            {
                reader.AdvanceTo(buffer.Start, buffer.End);
                continue;
            }

            var taken = buffer.Slice(0, Math.Min(pace, buffer.Length));
            foreach (var piece in taken)
            {
                all.Write(piece.Span);
            }

            var isEnd = read.IsCompleted && taken.Length == buffer.Length;
            reader.AdvanceTo(taken.End);
            if (isEnd)
            {
                return all.WrittenSpan.ToArray();
            }
        }
    }
}
