using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;

namespace Pnh.Channels.Provider.Connections;

/// <summary>What one request to a provider's address showed.</summary>
/// <param name="Origin">The address.</param>
/// <param name="Took">Name, TCP, TLS and the answer together.</param>
/// <param name="Fault">Why there was no answer, in one line; null = there was one.</param>
/// <param name="CertificateEnds">When the provider's certificate runs out; null = none was shown.</param>
/// <param name="Issuer">Who signed it; null = none was shown.</param>
/// <param name="Skew">How far our clock is ahead of the provider's, to the second; null = it did not say.</param>
public sealed record ProviderReach(Uri Origin, TimeSpan Took, string? Fault, DateTimeOffset? CertificateEnds, string? Issuer, TimeSpan? Skew)
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);

    /// <summary>Asks once, without a credential: any answer counts. Believes whom pushes believe.</summary>
    public static async Task<ProviderReach> TryAsync(Uri origin, ProviderTrust trust, TimeProvider time, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(origin);
        ArgumentNullException.ThrowIfNull(trust);
        ArgumentNullException.ThrowIfNull(time);
        var started = time.GetTimestamp();
        (DateTimeOffset Ends, string Issuer)? shown = null;
        var tls = trust.OptionsFor(origin);
        var judge = tls.RemoteCertificateValidationCallback!;
        tls.RemoteCertificateValidationCallback = (sender, certificate, chain, errors) =>
        {
            shown = certificate is X509Certificate2 known ? (known.NotAfter, known.Issuer) : shown;
            return judge(sender, certificate, chain, errors);
        };
        using var http = new HttpMessageInvoker(new SocketsHttpHandler { SslOptions = tls, AllowAutoRedirect = false, ConnectTimeout = Patience });
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        patience.CancelAfter(Patience);
        try
        {
            using var request = new HttpRequestMessage(HttpMethod.Get, origin) { Version = new Version(2, 0), VersionPolicy = HttpVersionPolicy.RequestVersionOrLower };
            using var answer = await http.SendAsync(request, patience.Token).ConfigureAwait(false);
            return new ProviderReach(origin, time.GetElapsedTime(started), null, shown?.Ends, shown?.Issuer, answer.Headers.Date is { } theirs ? time.GetUtcNow() - theirs : null);
        }
        catch (Exception fault) when (fault is HttpRequestException or IOException or SocketException || (fault is OperationCanceledException && !cancellationToken.IsCancellationRequested))
        {
            var why = fault is OperationCanceledException ? $"no answer within {Patience.TotalSeconds:F0} s" : (fault.InnerException ?? fault).Message.TrimEnd('.');
            return new ProviderReach(origin, time.GetElapsedTime(started), why, shown?.Ends, shown?.Issuer, null);
        }
    }
}
