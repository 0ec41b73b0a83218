using Pnh.Channels.Tests.Http;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;
using Pnh.Sandbox;
using Pnh.Sandbox.Contract;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.WebPush;

/// <summary>A sandbox with a browser that has subscribed at Apple's push service.</summary>
public abstract class SafariFixture : IAsyncLifetime
{
    private protected const string Browser = "safari";
    private protected static readonly Notification Hello = new() { Title = "Grace", Body = "Hello" };
    private readonly string _folder = Directory.CreateTempSubdirectory("pnh-safari-").FullName;

    private protected FakeTimeProvider Time { get; } = new();

    private protected SandboxServer Sandbox { get; private set; } = null!;

    /// <inheritdoc/>
    public async Task InitializeAsync()
    {
        using var timeout = new CancellationTokenSource(Sample.Limit);
        Sandbox = await SandboxServer.StartAsync(new SandboxOptions { Folder = _folder, ApnsPort = 0, FcmPort = 0, TimeProvider = Time }, timeout.Token);
    }

    /// <inheritdoc/>
    public async Task DisposeAsync()
    {
        await Sandbox.DisposeAsync();
        Directory.Delete(_folder, recursive: true);
    }

    private protected ChannelHost Host(string? clearText = null, string? site = null) =>
        WebPushSandboxTests.Host(Sandbox, Time, Sandbox.Credentials.VapidKeyFile, clearText: clearText, site: site);

    private protected PushAddress Address() => WebPushSandboxTests.AddressOf(Sandbox.SubscribeToApple(Browser));

    private protected static Task<DeliveryResult> SendAsync(ChannelHost host, Delivery delivery) => WebPushSandboxTests.SendAsync(host, delivery);

    /// <summary>What a check says of a setting of the account.</summary>
    private protected async Task<IReadOnlyCollection<string>> CheckAsync(string setting, string value)
    {
        var settings = WebPushFixture.Settings();
        settings["Apps:demo:WebPush:0:KeyFile"] = Sandbox.Credentials.VapidKeyFile;
        settings[$"Apps:demo:WebPush:0:{setting}"] = value;
        await using var host = new ChannelHost(Time, settings);
        return [.. host.Check()];
    }
}
