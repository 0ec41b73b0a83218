using System.Security.Cryptography;
using System.Text;
using Pnh.Sandbox.Contract;
using Pnh.Sandbox.Credentials;

namespace Pnh.Sandbox.Tests.Apns;

public sealed class ApnsConnectionTests(SandboxFixture fixture) : IClassFixture<SandboxFixture>
{
    private readonly SandboxUnderTest _sandbox = fixture.Sandbox;

    private SandboxCredentials Known => _sandbox.Server.Credentials;

    [Fact]
    public async Task TokenUpdate_WithinTwentyMinutesOnOneConnection_TooManyProviderTokenUpdates()
    {
        using HttpMessageInvoker connection = _sandbox.NewCaller();
        long before = _sandbox.Server.Violations[ViolationKind.ProviderTokenUpdates];

        Answer first = await SendAsync(connection, _sandbox.ProviderToken(TimeSpan.FromMinutes(19)));
        Answer tooSoon = await SendAsync(connection, _sandbox.ProviderToken());
        Answer oldAgain = await SendAsync(connection, _sandbox.ProviderToken(TimeSpan.FromMinutes(30)));
        Answer elsewhere = await SendAsync(null, _sandbox.ProviderToken());

        Assert.Equal(200, first.Status);
        Assert.Equal((429, "TooManyProviderTokenUpdates"), (tooSoon.Status, tooSoon.Reason));
        Assert.Equal((429, "TooManyProviderTokenUpdates"), (oldAgain.Status, oldAgain.Reason));
        Assert.Equal(200, elsewhere.Status);
        Assert.Equal(before + 2, _sandbox.Server.Violations[ViolationKind.ProviderTokenUpdates]);
    }

    [Fact]
    public async Task TokenUpdate_AfterTwentyMinutes_Accepted()
    {
        using HttpMessageInvoker connection = _sandbox.NewCaller();

        Answer first = await SendAsync(connection, _sandbox.ProviderToken(TimeSpan.FromMinutes(21)));
        Answer second = await SendAsync(connection, _sandbox.ProviderToken());

        Assert.Equal((200, 200), (first.Status, second.Status));
    }

    [Fact]
    public async Task SecondTeam_OnOneConnection_InvalidProviderToken()
    {
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        Known.TrustApnsKey("OTHERTEAM1", "OTHERKEY01", key);
        string other = Jwt.Es256(key, "OTHERKEY01", "OTHERTEAM1", _sandbox.Now);
        using HttpMessageInvoker connection = _sandbox.NewCaller();

        Answer first = await SendAsync(connection, _sandbox.ProviderToken());
        Answer mixed = await SendAsync(connection, other);
        Answer apart = await SendAsync(null, other);

        Assert.Equal((200, 200), (first.Status, apart.Status));
        Assert.Equal((403, "InvalidProviderToken"), (mixed.Status, mixed.Reason));
    }

    [Fact]
    public async Task MixedKeyKinds_OnOneConnection_UnrelatedKeyIdInToken()
    {
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        Known.TrustApnsKey(Known.TeamId, "TOPICKEY02", key, topics: ["com.example.demo"]);
        using HttpMessageInvoker connection = _sandbox.NewCaller();

        await SendAsync(connection, _sandbox.ProviderToken());
        Answer mixed = await SendAsync(connection, Jwt.Es256(key, "TOPICKEY02", Known.TeamId, _sandbox.Now));

        Assert.Equal((403, "UnrelatedKeyIdInToken"), (mixed.Status, mixed.Reason));
    }

    [Fact]
    public async Task ExpiredToken_SpoilsTheConnection_UntilANewOne()
    {
        using HttpMessageInvoker connection = _sandbox.NewCaller();

        await SendAsync(connection, _sandbox.ProviderToken(TimeSpan.FromMinutes(61)));
        Answer same = await SendAsync(connection, _sandbox.ProviderToken());
        Answer fresh = await SendAsync(null, _sandbox.ProviderToken());

        Assert.Equal((403, "ExpiredProviderToken"), (same.Status, same.Reason));
        Assert.Equal(200, fresh.Status);
    }

    [Fact]
    public async Task BadDeviceTokens_InNumber_EndTheConnection()
    {
        await using SandboxUnderTest strict = await SandboxUnderTest.StartAsync(options => options.BadDeviceTokensBeforeGoAway = 2);
        await using RawHttp2 connection = await RawHttp2.ConnectAsync(strict, strict.Server.ApnsAddress);
        ApnsCaller push = new(strict);
        IEnumerable<(string, string)> headers = push.Headers.Select(header => (header.Key, header.Value[0]));

        await connection.PostAsync(1, "/3/device/not-hex", headers, ApnsCaller.Payload);
        (_, byte[] first) = await connection.ReadUntilAsync(RawHttp2.Data);
        await connection.PostAsync(3, "/3/device/not-hex", headers, ApnsCaller.Payload);
        (_, byte[] goAway) = await connection.ReadUntilAsync(RawHttp2.GoAwayType);

        Assert.Equal("{\"reason\":\"BadDeviceToken\"}", Encoding.UTF8.GetString(first));
        Assert.Equal("{\"reason\":\"BadDeviceToken\"}", Encoding.UTF8.GetString(goAway.AsSpan(8)));
        Assert.Equal(2, strict.Server.Violations[ViolationKind.BadDeviceTokens]);
    }

    private Task<Answer> SendAsync(HttpMessageInvoker? connection, string token) =>
        new ApnsCaller(_sandbox).With("authorization", "bearer " + token).SendAsync(connection);
}
