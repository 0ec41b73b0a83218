using System.Security.Cryptography;
using System.Text.Json;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Api.Doctor;
using Pnh.Api.Tests.EndToEnd;
using Pnh.Channels.Provider.Connections;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;
using Pnh.Sandbox;
using Pnh.Sandbox.Contract;
using Pnh.TestKit;

namespace Pnh.Api.Tests.Commands;

/// <summary>Doctor asks each account's provider whether it takes the account, without a device.</summary>
public sealed class AccountCheckTests
{
    [Fact]
    public async Task Look_AccountsOfTheSandbox_AreTakenAndNothingIsShown()
    {
        await using var hub = await TestHub.StartAsync();

        var found = await LookAsync(hub);

        Assert.Equal(["apns", "fcm"], found.Select(static one => one.What).Distinct().Order(StringComparer.Ordinal));
        Assert.All(found, static one => Assert.Equal((Grade.Good, true), (one.Grade, one.Text.EndsWith("is taken", StringComparison.Ordinal))));
    }

    [Fact]
    public async Task Look_KeyIdOfAnotherKey_IsRefusedWithTheProvidersWord()
    {
        using var folder = new TemporaryFolder();
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        await File.WriteAllTextAsync(folder["key.p8"], key.ExportPkcs8PrivateKeyPem());
        await using var sandbox = await SandboxServer.StartAsync(new SandboxOptions { Folder = folder["sandbox"], ApnsPort = 0, FcmPort = 0 }, CancellationToken.None);
        await using var hub = await TestHub.StartAsync(configuration:
        [
            "--Pnh:Apps:shop:Tokens:Hs256Secret=0123456789abcdef0123456789abcdef", "--Pnh:Apps:shop:Apns:0:TeamId=ABCDEFGHIJ", "--Pnh:Apps:shop:Apns:0:KeyId=ABCDEFGHIJ",
            $"--Pnh:Apps:shop:Apns:0:KeyFile={folder["key.p8"]}", "--Pnh:Apps:shop:Apns:0:Topic=com.example.shop", $"--Pnh:Apps:shop:Apns:0:BaseAddress={sandbox.ApnsAddress}",
        ]);
        hub.Host.Services.GetRequiredService<ProviderTrust>().Trust(sandbox.ApnsAddress, sandbox.CaCertificate);

        var refused = Assert.Single(await LookAsync(hub));

        Assert.Equal((Grade.Bad, "apns"), (refused.Grade, refused.What));
        Assert.StartsWith("account shop/0 is refused: InvalidProviderToken", refused.Text, StringComparison.Ordinal);
    }

    /// <summary>What a provider says of an address, an app's fault or a device's pace is said by one that took the account.</summary>
    [Theory]
    [InlineData(DeliveryStatus.Accepted, Grade.Good)]
    [InlineData(DeliveryStatus.AddressDead, Grade.Good)]
    [InlineData(DeliveryStatus.Rejected, Grade.Good)]
    [InlineData(DeliveryStatus.Throttled, Grade.Good)]
    [InlineData(DeliveryStatus.Misconfigured, Grade.Bad)]
    [InlineData(DeliveryStatus.Unavailable, Grade.Doubtful)]
    [InlineData(DeliveryStatus.Unconfirmed, Grade.Doubtful)]
    public async Task Look_AnswerOfAProvider_IsJudgedByWhatItSaysOfTheAccount(DeliveryStatus status, object grade)
    {
        var check = new AccountCheck([new Channel(status)], TimeProvider.System);

        var found = Assert.Single(await check.LookAsync(CancellationToken.None));

        Assert.Equal((grade, "pigeon"), (found.Grade, found.What));
    }

    private static Task<IReadOnlyList<Finding>> LookAsync(TestHub hub) =>
        new AccountCheck(hub.Host.Services.GetServices<IPushChannel>(), TimeProvider.System).LookAsync(CancellationToken.None);

    private sealed class Channel(DeliveryStatus status) : IPushChannel, IPushSender
    {
        public string Name => "pigeon";

        public int MaxInFlight => 1;

        public IEnumerable<(string App, PushAddress Address)> MakeUpAddresses() => [("shop", new PushAddress("pigeon", "token", "none", "", DateTimeOffset.UnixEpoch))];

        public string? FindAccount(string app, PushAddress address) => $"{app}/0";

        public IPushSender Open(string account, EventClass @class) => this;

        public ValueTask<DeliveryResult> SendAsync(Delivery delivery, CancellationToken cancellationToken) => new(DeliveryResult.Of(status, "word"));

        public ValueTask DisposeAsync() => default;

        public void ReadAddresses(JsonElement section, DateTimeOffset now, ICollection<PushAddress> addresses, ICollection<FieldError> errors) => throw new NotSupportedException();

        public void WriteAddresses(Utf8JsonWriter section, IEnumerable<PushAddress> addresses) => throw new NotSupportedException();

        public PushAddress? SelectAddress(Device device, Event accepted) => throw new NotSupportedException();
    }
}
