using System.Reflection;
using System.Reflection.Emit;
using System.Text.Json;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Channels.Tests.Http;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;
using Pnh.TestKit;

namespace Pnh.Channels.Tests;

public sealed class PushChannelServicesTests
{
    [Fact]
    public async Task AddPushChannels_ChannelOfAnotherAssembly_WorksLikeOurOwn()
    {
        var time = new FakeTimeProvider();
        await using var host = new ChannelHost(time, new() { ["Apps:demo:Test:0:Greeting"] = "hello " });
        var channel = host.Channel("test");
        using var section = JsonDocument.Parse("""{"number":"42"}""");
        var addresses = new List<PushAddress>();

        channel.ReadAddresses(section.RootElement, time.GetUtcNow(), addresses, []);
        await using var sender = channel.Open(channel.FindAccount("demo", addresses[0])!, EventClass.Message);
        var result = await sender.SendAsync(Sample.Delivery(Sample.Event(time), addresses[0]), CancellationToken.None);

        Assert.Equal("hello 42", result.ProviderId);
    }

    [Fact]
    public async Task AddPushChannels_OwnAssembly_FindsProvidersAndTheirKeys()
    {
        await using var host = new ChannelHost(new FakeTimeProvider(), []);
        var names = host.Services.GetServices<IPushChannel>().Select(channel => channel.Name).ToList();
        var modules = host.Services.GetServices<PushChannelModule>().ToList();

        Assert.Contains("apns", names);
        Assert.Contains("fcm", names);
        Assert.Equal(names.Order(StringComparer.Ordinal), modules.Select(module => module.Name));
        Assert.Contains("Apps:*:Apns:*:TeamId", modules.SelectMany(module => module.ConfigurationKeys));
        Assert.Contains("Apps:*:Test:*:Greeting", modules.SelectMany(module => module.ConfigurationKeys));
    }

    [Fact]
    public void AddPushChannels_NameTakenTwice_SaysWhoTookIt()
    {
        var other = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("Other"), AssemblyBuilderAccess.Run);
        other.SetCustomAttribute(new CustomAttributeBuilder(typeof(SecondApnsModule).GetConstructor([])!, []));
        var pnh = new ConfigurationBuilder().Build().GetSection("Pnh");

        var error = Assert.Throws<InvalidOperationException>(() => new ServiceCollection().AddPushChannels(pnh, other));

        Assert.Contains("'apns'", error.Message, StringComparison.Ordinal);
        Assert.Contains("SecondApnsModule", error.Message, StringComparison.Ordinal);
    }

    public sealed class SecondApnsModule : PushChannelModule
    {
        public override string Name => "apns";

        public override IReadOnlyList<string> ConfigurationKeys => [];

        public override void Register(IServiceCollection services, IConfiguration pnhSection) => throw new InvalidOperationException("not reached");
    }
}
