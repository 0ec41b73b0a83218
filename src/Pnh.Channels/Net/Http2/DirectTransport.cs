using System.Net.Security;
using Pnh.Channels.Net.Http;

namespace Pnh.Channels.Net.Http2;

/// <summary>HTTP/2 by <see cref="Http2Connection"/>.</summary>
internal sealed class DirectTransport : IConnectionTransport
{
    private readonly TimeProvider _time;

    public DirectTransport(TimeProvider time) => _time = time;

    public string Name => "direct";

    public IProviderConnection Open(SslStream stream, ConnectionOptions options, IConnectionObserver observer) =>
        Http2Connection.Start(stream, options, observer, _time, Http2Limits.Default);
}
