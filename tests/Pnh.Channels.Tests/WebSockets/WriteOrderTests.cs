using System.Text;
using System.Text.Json;
using Pnh.Core.Events;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>On the framework's WebSocket.</summary>
public sealed class FrameworkWriteOrderTests() : WriteOrderTests(SocketTransport.Framework);

/// <summary>On our own.</summary>
public sealed class DirectWriteOrderTests() : WriteOrderTests(SocketTransport.Direct);

/// <summary>What is written on one connection by several at once, and to those who read late: whole frames, in order, with nothing between.</summary>
public abstract class WriteOrderTests(SocketTransport transport) : SocketTests(transport)
{
    private const string Hello = """{"type":"hello","token":"ada-token","device":"tab-1"}""";

    [Fact]
    public async Task TrySend_ClientReadsLate_GetsEverythingInOrder()
    {
        const int Count = 300;
        await using var host = await StartAsync(o => (o.QueueItems, o.QueueBytes) = (4 * Count, 1 << 30));
        using var raw = await RawClient.UpgradeAsync(host.Port, receiveBuffer: 4096);
        await raw.SendTextAsync(Hello);
        var opened = await host.Hub.NextOpenedAsync();
        Assert.Equal("welcome", await ReadTypeAsync(raw));
        for (var i = 1; i <= Count; i++) // 18 MB: far more than the kernel keeps, so frames are cut anywhere
        {
            Assert.True(opened.Link.TrySend(opened.Key.Session, Events.Make($"e-{i}", data: $"\"{new string('x', 60_000 + i)}\"")));
        }

        for (var i = 1; i <= Count; i++)
        {
            using var frame = JsonDocument.Parse((await raw.ReadFrameAsync())!.Value.Payload);
            Assert.Equal(i, frame.RootElement.GetProperty("seq").GetInt64());
            Assert.Equal(60_000 + i, frame.RootElement.GetProperty("data").GetString()!.Length);
        }

        Assert.True(opened.Link.TrySend(opened.Key.Session, Events.Make("last")));
        Assert.Equal("event", await ReadTypeAsync(raw));
    }

    [Fact]
    public async Task TrySend_WhilePingsAreAnswered_EveryFrameIsWhole()
    {
        const int Each = 400;
        await using var host = await StartAsync(o => (o.QueueItems, o.QueueBytes, o.MessageBurst) = (8 * Each, 1 << 30, 2 * Each));
        using var raw = await RawClient.UpgradeAsync(host.Port);
        await raw.SendTextAsync(Hello);
        var opened = await host.Hub.NextOpenedAsync();
        Assert.Equal("welcome", await ReadTypeAsync(raw));
        var pinging = Task.Run(async () =>
        {
            for (var i = 0; i < Each; i++)
            {
                await raw.SendFrameAsync(9, Encoding.ASCII.GetBytes($"ping-{i}"));
            }

            await raw.SendFrameAsync(9, "last"u8.ToArray());
        });
        var sending = Enumerable.Range(0, 2).Select(sender => Task.Run(() =>
        {
            for (var i = 0; i < Each; i++)
            {
                var @class = i % 4 == 0 ? EventClass.Transient : EventClass.Message;
                Assert.True(opened.Link.TrySend(opened.Key.Session, Events.Make($"{sender}-{i}", @class, data: $"\"{new string('y', i)}\"")));
            }
        })).ToArray();

        var (seq, frames, sawLast) = (0L, 0, false);
        while (frames < 2 * Each || !sawLast)
        {
            var (opcode, payload) = (await raw.ReadFrameAsync())!.Value;
            if (opcode == 10)
            {
                var text = Encoding.ASCII.GetString(payload);
                Assert.Matches("^ping-[0-9]+$|^last$", text);
                sawLast |= text == "last";
                continue;
            }

            frames++;
            using var frame = JsonDocument.Parse(payload);
            if (frame.RootElement.TryGetProperty("seq", out var given))
            {
                Assert.Equal(++seq, given.GetInt64());
            }
        }

        await Task.WhenAll([pinging, .. sending]);
        Assert.Equal(2 * Each * 3 / 4, seq);
    }

    [Fact]
    public async Task Hello_WithMoreBehindItAndASlowHub_IsHandledInOrder()
    {
        await using var host = await StartAsync();
        var opening = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        host.Hub.OnOpened = _ => new ValueTask(opening.Task);
        using var raw = await RawClient.UpgradeAsync(host.Port);
        await raw.SendBytesAsync(Rfc6455.MaskedFrame.Join(
            Rfc6455.MaskedFrame.Of(1, Hello), Rfc6455.MaskedFrame.Of(1, """{"type":"seen","id":"e-1"}"""), Rfc6455.MaskedFrame.Of(9, "p")));
        await raw.SendTextAsync("""{"type":"seen","id":"e-2"}""");
        opening.SetResult();
        Assert.Equal("seen e-1", await host.Hub.NextSaidAsync());
        Assert.Equal("seen e-2", await host.Hub.NextSaidAsync());
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Hello_ClientGoneBeforeTheHubKnows_LeavesNothing(bool hubFails)
    {
        await using var host = await StartAsync(o => o.Linger = TimeSpan.Zero);
        var opening = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var asked = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        host.Hub.OnOpened = _ =>
        {
            asked.SetResult();
            return new ValueTask(opening.Task);
        };
        var raw = await RawClient.UpgradeAsync(host.Port);
        await raw.SendTextAsync(Hello);
        await asked.Task.WaitAsync(SocketHost.Patience);
        raw.Reset();
        if (hubFails)
        {
            opening.SetException(new InvalidOperationException("no"));
        }
        else
        {
            opening.SetResult();
        }

        Assert.Equal("tab-1", (await host.Hub.NextClosedAsync()).Device);
        await host.WaitForTotalsAsync(default);
        Assert.Equal(0, host.Server.KnownSessions);
    }

    private static async Task<string?> ReadTypeAsync(RawClient raw) =>
        JsonDocument.Parse((await raw.ReadFrameAsync())!.Value.Payload).RootElement.GetProperty("type").GetString();
}
