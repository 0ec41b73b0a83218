using System.Text;
using Pnh.Sandbox.Contract;
using Pnh.Sandbox.Scripts;
using Pnh.Sandbox.Tests.Apns;

namespace Pnh.Sandbox.Tests.Hosting;

public sealed class StreamGrantTests
{
    [Fact]
    public async Task Apns_FirstAuthenticatedAnswer_RaisesStreamsFromOne()
    {
        await using SandboxUnderTest sandbox = await SandboxUnderTest.StartAsync(options => options.StreamsAfterAuthentication = 700);
        await using RawHttp2 connection = await RawHttp2.ConnectAsync(sandbox, sandbox.Server.ApnsAddress);

        int fence = await connection.ReadStreamsAsync();
        int before = await connection.ReadStreamsAsync();
        await PushAsync(connection, 1, sandbox);
        int after = await connection.ReadStreamsAsync();

        Assert.Equal((2800, 1, 700), (fence, before, after));
    }

    [Fact]
    public async Task Apns_TwoRequestsBeforeAnAnswer_CountedAsViolation()
    {
        await using SandboxUnderTest sandbox = await SandboxUnderTest.StartAsync();
        await using RawHttp2 connection = await RawHttp2.ConnectAsync(sandbox, sandbox.Server.ApnsAddress);
        string address = ApnsCaller.NewAddress();
        sandbox.Server.Scripts.Set(address, new Script(ScriptKind.Slow) { Delay = TimeSpan.FromMinutes(1), Times = 1 });

        await PushAsync(connection, 1, sandbox, address);
        await sandbox.Clock.WaitForTimersAsync(1, SandboxUnderTest.Patience);
        await PushAsync(connection, 3, sandbox, address);
        await connection.ReadUntilAsync(RawHttp2.HeadersType);

        Assert.Equal(1, sandbox.Server.Violations[ViolationKind.RequestsBeforeAuthentication]);
        Assert.Equal(1, sandbox.Server.Violations.Total);
    }

    [Fact]
    public async Task Apns_RefusingExcess_RefusedStream()
    {
        await using SandboxUnderTest sandbox = await SandboxUnderTest.StartAsync(options => options.RefuseExcessStreams = true);
        await using RawHttp2 connection = await RawHttp2.ConnectAsync(sandbox, sandbox.Server.ApnsAddress);
        string address = ApnsCaller.NewAddress();
        sandbox.Server.Scripts.Set(address, new Script(ScriptKind.Slow) { Delay = TimeSpan.FromMinutes(1), Times = 1 });

        await PushAsync(connection, 1, sandbox, address);
        await sandbox.Clock.WaitForTimersAsync(1, SandboxUnderTest.Patience);
        await PushAsync(connection, 3, sandbox, address);
        (_, byte[] reset) = await connection.ReadUntilAsync(RawHttp2.ResetType);

        Assert.Equal([0, 0, 0, 7], reset);
        Assert.Null(sandbox.Server.Phones.Find(address));
    }

    [Fact]
    public async Task Apns_OneAfterTheOther_NoViolation()
    {
        await using SandboxUnderTest sandbox = await SandboxUnderTest.StartAsync();
        await using RawHttp2 connection = await RawHttp2.ConnectAsync(sandbox, sandbox.Server.ApnsAddress);

        for (int stream = 1; stream < 20; stream += 2)
        {
            await PushAsync(connection, stream, sandbox);
            await connection.ReadUntilAsync(RawHttp2.HeadersType);
        }

        Assert.Equal(0, sandbox.Server.Violations.Total);
    }

    [Fact]
    public async Task Apns_GoAwayScript_AnswersThenSendsTheReason()
    {
        await using SandboxUnderTest sandbox = await SandboxUnderTest.StartAsync();
        await using RawHttp2 connection = await RawHttp2.ConnectAsync(sandbox, sandbox.Server.ApnsAddress);
        string address = ApnsCaller.NewAddress();
        sandbox.Server.Scripts.Set(address, new Script(ScriptKind.GoAway) { Reason = "IdleTimeout" });

        await PushAsync(connection, 1, sandbox, address);
        (_, byte[] goAway) = await connection.ReadUntilAsync(RawHttp2.GoAwayType);

        Assert.Equal("{\"reason\":\"IdleTimeout\"}", Encoding.UTF8.GetString(goAway.AsSpan(8)));
        Assert.Equal(1, sandbox.Server.Phones.Find(address)?.Received);
    }

    [Fact]
    public async Task Fcm_MoreStreamsThanGranted_GoAwayWithItsName()
    {
        await using SandboxUnderTest sandbox = await SandboxUnderTest.StartAsync(options => options.FcmStreams = 2);
        await using RawHttp2 connection = await RawHttp2.ConnectAsync(sandbox, sandbox.Server.FcmAddress);

        int fence = await connection.ReadStreamsAsync();
        int granted = await connection.ReadStreamsAsync();
        string accessToken = await new Fcm.FcmCaller(sandbox).AccessTokenAsync();
        for (int stream = 1; stream <= 5; stream += 2)
        {
            // Without their bodies these stay open.
            await connection.PostAsync(stream, $"/v1/projects/{sandbox.Project}/messages:send", [("authorization", "Bearer " + accessToken)], null);
        }

        (_, byte[] goAway) = await connection.ReadUntilAsync(RawHttp2.GoAwayType);

        Assert.Equal((8, 2), (fence, granted));
        Assert.Equal("exceeded_max_concurrent_streams", Encoding.UTF8.GetString(goAway.AsSpan(8)));
        Assert.Equal(1, sandbox.Server.Violations[ViolationKind.ExcessStreams]);
    }

    private static Task PushAsync(RawHttp2 connection, int stream, SandboxUnderTest sandbox, string? address = null)
    {
        ApnsCaller push = new(sandbox);
        return connection.PostAsync(stream, $"/3/device/{address ?? push.Address}",
            push.Headers.Select(header => (header.Key, header.Value[0])), ApnsCaller.Payload);
    }
}
