using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;

namespace Pnh.Channels.Provider.Connections;

/// <summary>What a dial brought: a stream that agreed on <c>h2</c>, or a word for timelines that says what failed.</summary>
internal readonly record struct DialResult(SslStream? Stream, string? Fault);

/// <summary>
/// Dials a provider: resolves afresh each time (DNS is how Apple spreads load), connects, shakes hands for TLS 1.2 or better with ALPN <c>h2</c> and
/// nothing else. A failure is a value. Thread-safe.
/// </summary>
internal sealed class ProviderDial
{
    /// <summary>
    /// TCP and TLS together. A far provider answers a handshake in well under a second; a lost SYN goes out again after 1 s. With the second that a
    /// request may wait for its dial it stays below the shortest attempt (5 s): a request learns that the dial failed, and not just that its time is over.
    /// </summary>
    public static readonly TimeSpan Timeout = TimeSpan.FromSeconds(3.5);

    private readonly Uri _origin;
    private readonly ProviderTrust _trust;
    private readonly TimeProvider _time;
    private readonly Func<X509Certificate2?>? _certificate;

    /// <param name="origin">Host and port.</param>
    /// <param name="trust">Whom to believe.</param>
    /// <param name="time">Clock of the timeout.</param>
    /// <param name="certificate">The client certificate to show, asked for at each dial; null = none.</param>
    public ProviderDial(Uri origin, ProviderTrust trust, TimeProvider time, Func<X509Certificate2?>? certificate = null)
    {
        _origin = origin;
        _trust = trust;
        _time = time;
        _certificate = certificate;
    }

    /// <summary>Throws only <see cref="OperationCanceledException"/>, when the caller cancels.</summary>
    public async Task<DialResult> ConnectAsync(CancellationToken cancellationToken)
    {
        using var timeout = new CancellationTokenSource(Timeout, _time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        try
        {
            var addresses = await ResolveAsync(either.Token);
            return addresses.Length == 0 ? new DialResult(null, "name-resolution-failed") : await ConnectAsync(addresses, either.Token);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return new DialResult(null, "connect-timeout");
        }
    }

    private async Task<IPAddress[]> ResolveAsync(CancellationToken cancellationToken)
    {
        try
        {
            return await Dns.GetHostAddressesAsync(_origin.IdnHost, cancellationToken);
        }
        catch (SocketException)
        {
            return [];
        }
    }

    private async Task<DialResult> ConnectAsync(IPAddress[] addresses, CancellationToken cancellationToken)
    {
        Socket socket;
        try
        {
            socket = await AddressDial.ConnectAsync(addresses, _origin.Port, cancellationToken);
        }
        catch (SocketException)
        {
            return new DialResult(null, "connect-failed");
        }

        var stream = new SslStream(new NetworkStream(socket, ownsSocket: true));
        try
        {
            await stream.AuthenticateAsClientAsync(Options(), cancellationToken);
            if (stream.NegotiatedApplicationProtocol == SslApplicationProtocol.Http2)
            {
                return new DialResult(stream, null);
            }

            await stream.DisposeAsync();
            return new DialResult(null, "no-http2");
        }
        catch (Exception exception) when (exception is AuthenticationException or IOException)
        {
            await stream.DisposeAsync();
            return new DialResult(null, "tls-failed");
        }
        catch
        {
            await stream.DisposeAsync();
            throw;
        }
    }

    private SslClientAuthenticationOptions Options()
    {
        var options = _trust.OptionsFor(_origin);
        options.TargetHost = _origin.IdnHost;
        options.ApplicationProtocols = [SslApplicationProtocol.Http2];
        options.EnabledSslProtocols = SslProtocols.Tls12 | SslProtocols.Tls13;
        if (_certificate?.Invoke() is { } certificate)
        {
            options.ClientCertificates = [certificate];
        }

        return options;
    }
}
