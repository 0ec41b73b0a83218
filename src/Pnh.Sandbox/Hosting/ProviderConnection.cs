using System.IO.Pipelines;
using System.Net.Security;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core.Features;

namespace Pnh.Sandbox.Hosting;

/// <summary>One TCP connection to a stand-in: how many requests are in flight on it, and what it was granted. Thread-safe.</summary>
internal class ProviderConnection
{
    private readonly StreamGrant? _grant;
    private int _granted;
    private int _inFlight;

    public ProviderConnection(StreamGrant? grant, int granted)
    {
        _grant = grant;
        _granted = granted;
    }

    /// <summary>Counts a request in; false when it is one more than granted.</summary>
    public bool TryEnter() => Interlocked.Increment(ref _inFlight) <= Volatile.Read(ref _granted);

    /// <summary>Counts a request out. Before its answer is written: after it, the client's next one may be here already.</summary>
    public void Leave() => Interlocked.Decrement(ref _inFlight);

    /// <summary>Grants more streams; the client learns it with the next answer.</summary>
    public void Grant(int streams)
    {
        if (Interlocked.Exchange(ref _granted, streams) != streams)
        {
            _grant?.Grant(streams);
        }
    }

    /// <summary>Ends the connection gracefully: GOAWAY (HTTP/2) with the debug data, what is in flight still gets its answer.</summary>
    public void GoAway(IFeatureCollection features, int errorCode, string debugData)
    {
        _grant?.GoAway(errorCode, debugData);
        features.Get<IConnectionLifetimeNotificationFeature>()?.RequestClose();
    }

    /// <summary>The connection middleware that makes one of these per connection; to stand after TLS.</summary>
    public static Func<ConnectionDelegate, ConnectionDelegate> Middleware<T>(int granted, Func<StreamGrant?, T> create)
        where T : ProviderConnection
    {
        return next => async connection =>
        {
            bool http2 = connection.Features.Get<ISslStreamFeature>()?.SslStream.NegotiatedApplicationProtocol
                == SslApplicationProtocol.Http2;
            IDuplexPipe transport = connection.Transport;
            StreamGrant? grant = http2 ? new StreamGrant(transport.Output, granted) : null;
            connection.Features.Set(create(grant));
            if (grant is not null)
            {
                connection.Transport = new Transport(transport.Input, grant);
            }

            try
            {
                await next(connection);
            }
            finally
            {
                connection.Transport = transport;
            }
        };
    }

    private sealed record Transport(PipeReader Input, PipeWriter Output) : IDuplexPipe;
}
