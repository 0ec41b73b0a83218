using System.Net.WebSockets;
using System.Runtime.CompilerServices;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>On the framework's WebSocket.</summary>
public sealed class FrameworkReconnectStormTests() : ReconnectStormTests(SocketTransport.Framework);

/// <summary>By a hub that is reached by bytes only.</summary>
public sealed class ByteLinkReconnectStormTests() : ReconnectStormTests(SocketTransport.Direct, overBytes: true);

/// <summary>On our own.</summary>
public sealed class DirectReconnectStormTests() : ReconnectStormTests(SocketTransport.Direct)
{
    [Fact]
    public async Task Reconnects_WhenTheyAreOver_LeaveNothingForTheCollectorToKeep()
    {
        const int Times = 40;
        await using var host = await StartAsync(o => o.Linger = TimeSpan.FromSeconds(1));
        var sessions = new List<WeakReference>();
        for (var i = 0; i < Times; i++)
        {
            sessions.Add(await OpenAndLoseAsync(host, $"tab-{i % 3}", resume: i % 2 == 0));
        }

        await host.WaitForTotalsAsync(default);
        await host.FlushAsync();
        Assert.Equal(0, host.Server.KnownSessions);

        // The last ones may still stand on a stack or in a pooled state machine.
        using var patience = new CancellationTokenSource(SocketHost.Patience);
        while (sessions.Count(s => s.IsAlive) > Times / 10)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            await Task.Delay(20, patience.Token);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static async Task<WeakReference> OpenAndLoseAsync(SocketHost host, string device, bool resume)
    {
        var (client, known) = await host.OpenAsync(device);
        Assert.True(known.Link.TrySend(known.Key.Session, Events.Make("e")));
        await client.ReadFramesAsync(1);
        client.Lose();
        if (resume)
        {
            using var again = await SocketClient.ConnectAsync(host.Port);
            await again.ResumeAsync(known.Key.Session, 0, device);
            again.Lose();
        }

        return new WeakReference(known.Link);
    }
}

/// <summary>A device that reconnects again and again, with and without resume, leaves neither sessions nor connections nor memory behind.</summary>
public abstract class ReconnectStormTests(SocketTransport transport, bool overBytes = false) : SocketTests(transport, overBytes)
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Reconnects_OfOneDeviceInAStorm_LeaveNothingBehind(bool graceful)
    {
        const int Times = 150;
        await using var host = await StartAsync();
        var (client, first) = await host.OpenAsync();
        var opened = first;
        var sent = 0;
        for (var i = 0; i < Times; i++)
        {
            Assert.True(opened.Link.TrySend(opened.Key.Session, Events.Make($"e-{sent++}")));
            if (i % 3 != 0)
            {
                client.Lose(); // else the old connection hangs while the next one comes
            }

            using var old = client;
            client = await SocketClient.ConnectAsync(host.Port);
            if (i % 2 == 0)
            {
                await client.HelloAsync("tab-1", "ada-token");
                var welcome = await client.ReadAsync("welcome");
                opened = await host.Hub.NextOpenedAsync();
                Assert.Equal(opened.Key.Session, welcome.GetProperty("session").GetString());
            }
            else
            {
                Assert.Equal((opened.Key.Session, 0, true), await client.ResumeAsync(opened.Key.Session, 0));
            }
        }

        // The last one stands; all others have ended, and been reported.
        await host.WaitUntilAsync(static now => now with { Active = 1, Background = 0, Handshakes = 0, Lingering = 0 });
        await host.WaitUntilReportedAsync(alive: 1);
        Assert.Equal(1, host.Server.KnownSessions);
        if (graceful)
        {
            await client.Socket.CloseAsync(WebSocketCloseStatus.NormalClosure, "", CancellationToken.None).WaitAsync(SocketHost.Patience);
        }
        else
        {
            opened.Link.Close(opened.Key.Session, SessionClose.Kicked);
            Assert.Equal((4503, null), await client.ReadCloseAsync());
        }

        await host.WaitForTotalsAsync(default);
        await host.WaitUntilReportedAsync(alive: 0);
        Assert.Equal(0, host.Server.KnownSessions);
    }
}
