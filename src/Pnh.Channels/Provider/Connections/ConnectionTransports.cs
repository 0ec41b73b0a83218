using Pnh.Channels.Net.Http;

namespace Pnh.Channels.Provider.Connections;

/// <summary>Which transport the next connection takes, so that a new one can be rolled out to a share of the connections and back. Thread-safe.</summary>
internal sealed class ConnectionTransports
{
    private readonly IConnectionTransport _framework;
    private readonly IConnectionTransport _direct;
    private readonly Func<long, bool> _isDirect;
    private long _connections;

    /// <summary>The framework's for every connection.</summary>
    public ConnectionTransports(TimeProvider time)
        : this(new FrameworkTransport(time), static _ => false, time)
    {
    }

    /// <param name="direct">Our own.</param>
    /// <param name="isDirect">Whether the connection of this number (from 1) takes it.</param>
    /// <param name="time">Clock of the framework's.</param>
    public ConnectionTransports(IConnectionTransport direct, Func<long, bool> isDirect, TimeProvider time)
    {
        _framework = new FrameworkTransport(time);
        _direct = direct;
        _isDirect = isDirect;
    }

    public IConnectionTransport Next() => _isDirect(Interlocked.Increment(ref _connections)) ? _direct : _framework;
}
