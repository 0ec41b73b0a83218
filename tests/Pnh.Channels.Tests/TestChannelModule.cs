using System.Text.Json;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Channels.Tests;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;

[assembly: TestChannelModule]

namespace Pnh.Channels.Tests;

/// <summary>A channel added from outside: this file is all it takes.</summary>
internal sealed class TestChannelModule : PushChannelModule
{
    public override string Name => "test";

    public override IReadOnlyList<string> ConfigurationKeys => ["Apps:*:Test:*:Greeting"];

    public override void Register(IServiceCollection services, IConfiguration pnhSection) =>
        services.AddSingleton<IPushChannel>(_ => new TestChannel(pnhSection["Apps:demo:Test:0:Greeting"] ?? ""));
}

internal sealed class TestChannel(string greeting) : IPushChannel, IPushSender
{
    public string Name => "test";

    public int MaxInFlight => 1;

    public void ReadAddresses(JsonElement section, DateTimeOffset now, ICollection<PushAddress> addresses, ICollection<FieldError> errors) =>
        addresses.Add(new PushAddress(Name, "number", section.GetProperty("number").GetString()!, "", now));

    public void WriteAddresses(Utf8JsonWriter section, IEnumerable<PushAddress> addresses) => section.WriteString("number", addresses.Single().Value);

    public PushAddress? SelectAddress(Device device, Event accepted) => device.Addresses.FirstOrDefault(address => address.Channel == Name);

    public string? FindAccount(string app, PushAddress address) => app;

    public IPushSender Open(string account, EventClass @class) => this;

    public ValueTask<DeliveryResult> SendAsync(Delivery delivery, CancellationToken cancellationToken) =>
        ValueTask.FromResult(new DeliveryResult { Status = DeliveryStatus.Accepted, ProviderId = greeting + delivery.Address!.Value });

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
