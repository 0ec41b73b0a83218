using System.Net.Security;
using Microsoft.Extensions.Logging;
using Pnh.Channels.Net.Http;

namespace Pnh.Channels.Provider.Connections;

/// <summary>Dials the connections of a pool, one at a time, and tells the pool of each end.</summary>
internal sealed partial class PoolDialler(ConnectionPool pool, PoolOptions options, ProviderServices services, ILogger logger)
{
    private static readonly TimeSpan LeastForSettings = TimeSpan.FromSeconds(0.5);

    private readonly ProviderDial _dial = new(options.Origin, services.Trust, services.Time, options.Certificate);
    private long _opened;

    /// <summary>Throws nothing; a pool that is disposed hears nothing.</summary>
    public async Task DialAsync(CancellationToken stopping)
    {
        // Off the caller's lock.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        try
        {
            var start = services.Time.GetTimestamp();
            var result = await _dial.ConnectAsync(stopping);
            if (result.Stream is { } stream)
            {
                pool.Opened(Open(stream, SettingsWithin(services.Time.GetElapsedTime(start))));
            }
            else
            {
                services.Gauges.Dialled(opened: false);
                pool.DialFailed(result.Fault!);
            }
        }
        catch (OperationCanceledException)
        {
            // The pool is being disposed; its waiters are answered.
        }
        catch (Exception bug)
        {
            Log.DialBroke(logger, bug, options.Origin.Host);
            pool.DialFailed("connect-failed");
        }
    }

    /// <summary>What is left of the dial's time; a round trip after a slow handshake.</summary>
    private static TimeSpan SettingsWithin(TimeSpan elapsed) =>
        ProviderDial.Timeout - elapsed is var left && left > LeastForSettings ? left : LeastForSettings;

    private PooledConnection Open(SslStream stream, TimeSpan settingsWithin)
    {
        var now = services.Time.GetTimestamp();
        var connection = new PooledConnection(pool, options, ++_opened, options.Lifetime * (1 + (Random.Shared.NextDouble() / 10))) { OpenedAt = now, IdleSince = now };
        var settings = new ConnectionOptions { Origin = options.Origin, PingsWhenIdle = options.PingsWhenIdle, SettingsWithin = settingsWithin };
        connection.Wire = services.Transports.Next().Open(stream, settings, connection);
        return connection;
    }

    private static partial class Log
    {
        [LoggerMessage(5, LogLevel.Error, "A bug of ours kept a connection to {Host} from being opened.", EventName = "DialBroke")]
        public static partial void DialBroke(ILogger logger, Exception bug, string host);
    }
}
