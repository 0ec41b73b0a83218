using System.Collections.Concurrent;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Pnh.Api.Access;
using Pnh.Api.Configuration;
using Pnh.Api.Hosting;
using Pnh.Core.Access;

namespace Pnh.Api.Tests.EndToEnd;

public sealed class StoredKeyTests
{
    [Fact]
    public async Task Start_KeysOfAnAppThatIsGone_AreSkippedWithOneWarning()
    {
        await using var first = await TestHub.StartAsync();
        var (kept, gone) = (PublisherKey.Create("demo", Scope.Send), PublisherKey.Create("gone", Scope.Send));
        var stored = first.Host.Services.GetRequiredService<IPublisherKeyStore>();
        foreach (var key in new[] { kept.Key, gone.Key, PublisherKey.Create("gone", Scope.Read).Key })
        {
            await stored.AddAsync(key.ToStored(DateTimeOffset.UnixEpoch), CancellationToken.None);
        }

        await first.Host.DisposeAsync();
        using var log = new Lines();
        await using var host = await HubHost.BuildAsync(
            TestHub.Tokens(first.Folder), new ConfigurationErrors(), builder => builder.Logging.ClearProviders().AddProvider(log), CancellationToken.None);
        await host!.StartAsync(CancellationToken.None);

        var keys = host.Services.GetRequiredService<PublisherKeys>();
        Assert.NotNull(keys.Find(kept.Secret));
        Assert.Null(keys.Find(gone.Secret));
        Assert.Single(log.Warnings, static line => line.Contains("gone", StringComparison.Ordinal));
    }

    private sealed class Lines : ILoggerProvider, ILogger
    {
        public ConcurrentQueue<string> Warnings { get; } = new();

        public ILogger CreateLogger(string categoryName) => this;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => logLevel == LogLevel.Warning;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (logLevel == LogLevel.Warning)
            {
                Warnings.Enqueue(formatter(state, exception));
            }
        }

        public void Dispose()
        {
        }
    }
}
