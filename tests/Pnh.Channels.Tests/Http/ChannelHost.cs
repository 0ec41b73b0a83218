using System.Security.Cryptography.X509Certificates;
using System.Text;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Channels.Net.Http;
using Pnh.Channels.Net.Http2;
using Pnh.Channels.Provider.Connections;
using Pnh.Core.Push;

namespace Pnh.Channels.Tests.Http;

/// <summary>The channels as the program composes them, over a configuration in memory and files of its own.</summary>
internal sealed class ChannelHost : IAsyncDisposable
{
    /// <summary>What connections of hosts made in this flow of the test take; null = the framework's.</summary>
    public static readonly AsyncLocal<IConnectionTransport?> Transport = new();

    /// <summary>Our own. Keep-alive by the real clock, as the framework's is: a test's clock jumps an hour before a peer can answer a ping.</summary>
    public static readonly IConnectionTransport Direct = new DirectTransport(TimeProvider.System);

    private readonly ServiceProvider _services;
    private readonly string _folder;

    public ChannelHost(
        TimeProvider time, Dictionary<string, string?> settings, Dictionary<string, string>? texts = null, Dictionary<string, byte[]>? binaries = null)
    {
        Dictionary<string, byte[]> files = new(binaries ?? []);
        foreach (var (name, text) in texts ?? [])
        {
            files.Add(name, Encoding.UTF8.GetBytes(text));
        }

        _folder = Directory.CreateTempSubdirectory("pnh-channels-").FullName;
        foreach (var (name, bytes) in files)
        {
            File.WriteAllBytes(PathOf(name), bytes);
        }

        Pnh = new ConfigurationBuilder()
            .AddInMemoryCollection(settings.Select(pair => KeyValuePair.Create(
                "Pnh:" + pair.Key, pair.Value is not null && files.ContainsKey(pair.Value) ? PathOf(pair.Value) : pair.Value)))
            .Build()
            .GetSection("Pnh");
        var transport = Transport.Value;
        _services = new ServiceCollection()
            .AddSingleton(time)
            .AddSingleton(new ConnectionTransports(transport ?? Direct, _ => transport is not null, TimeProvider.System))
            .AddPushChannels(Pnh, typeof(ChannelHost).Assembly)
            .BuildServiceProvider();
    }

    public IConfiguration Pnh { get; }

    public IServiceProvider Services => _services;

    public IPushChannel Channel(string name) => _services.GetServices<IPushChannel>().Single(channel => channel.Name == name);

    public ProviderGauges Gauges(string name) => _services.GetServices<ProviderGauges>().Single(gauges => gauges.Channel == name);

    public void Trust(Uri origin, X509Certificate2? authority = null) =>
        _services.GetRequiredService<ProviderTrust>().Trust(origin, authority ?? TestAuthority.Certificate);

    /// <summary>Where one of its files is.</summary>
    public string PathOf(string file) => Path.Combine(_folder, file);

    public List<string> CheckUse()
    {
        var errors = new List<string>();
        foreach (var check in _services.GetServices<IConfigurationCheck>())
        {
            check.CheckUse(errors);
        }

        return errors;
    }

    public List<string> Check()
    {
        var errors = new List<string>();
        foreach (var check in _services.GetServices<IConfigurationCheck>())
        {
            check.Check(errors);
        }

        return errors;
    }

    public async ValueTask DisposeAsync()
    {
        await _services.DisposeAsync();
        Directory.Delete(_folder, recursive: true);
    }
}

/// <summary>Small shared pieces of the channel tests.</summary>
internal static class Bytes
{
    public static ReadOnlyMemory<byte> Of(string text) => Encoding.UTF8.GetBytes(text);
}
