using Pnh.Channels.Net.Http2;

namespace Pnh.Channels.Tests.Http2;

/// <summary>A server that allocates nothing per request, for tests that count what clients allocate: it answers the end of each stream's body.</summary>
internal static class FrugalServer
{
    /// <summary>Until the other side closes; <paramref name="answer"/> writes the frames of one answer.</summary>
    public static async Task AnswerAllAsync(Stream stream, Action<FrameBuffer, int> answer)
    {
        var input = new byte[64 * 1024];
        var output = new FrameBuffer(64 * 1024);
        output.AppendFrame(FrameType.Settings, FrameFlags.None, 0, []);
        var filled = -24;
        await stream.ReadExactlyAsync(input.AsMemory(0, -filled));
        filled = 0;
        while (true)
        {
            await stream.WriteAsync(output.Memory);
            output.Truncate(0);
            int read;
            try
            {
                read = await stream.ReadAsync(input.AsMemory(filled));
            }
            catch (IOException)
            {
                return;
            }

            if (read == 0)
            {
                return;
            }

            filled += read;
            var taken = Answer(input.AsSpan(0, filled), output, answer);
            input.AsSpan(taken, filled - taken).CopyTo(input);
            filled -= taken;
        }
    }

    private static int Answer(ReadOnlySpan<byte> input, FrameBuffer output, Action<FrameBuffer, int> answer)
    {
        var taken = 0;
        while (input.Length - taken >= Http2FrameHeader.Size)
        {
            var header = Http2FrameHeader.Read(input[taken..]);
            if (input.Length - taken - Http2FrameHeader.Size < header.Length)
            {
                break;
            }

            taken += Http2FrameHeader.Size + header.Length;
            if (header.Type == FrameType.Data)
            {
                answer(output, header.Stream);
                output.AppendFrame(FrameType.WindowUpdate, 0, (uint)header.Length);
            }
        }

        return taken;
    }
}
