using Pnh.Channels.Http.Wire;

namespace Pnh.Channels.Http.Pool;

/// <summary>Which transport the next connection takes, so that a new one can be rolled out to a share of the connections and back. Thread-safe.</summary>
internal sealed class ConnectionTransports
{
    private readonly IConnectionTransport _framework = new FrameworkTransport();
    private readonly IConnectionTransport _direct;
    private readonly Func<long, bool> _isDirect;
    private long _connections;

    /// <summary>The framework's for every connection.</summary>
    public ConnectionTransports()
        : this(new FrameworkTransport(), static _ => false)
    {
    }

    /// <param name="direct">Our own.</param>
    /// <param name="isDirect">Whether the connection of this number (from 1) takes it.</param>
    public ConnectionTransports(IConnectionTransport direct, Func<long, bool> isDirect)
    {
        _direct = direct;
        _isDirect = isDirect;
    }

    public IConnectionTransport Next() => _isDirect(Interlocked.Increment(ref _connections)) ? _direct : _framework;
}
