using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Microsoft.Extensions.Logging;
using Pnh.Core.Timing;

namespace Pnh.Channels.Apns;

/// <summary>
/// A client certificate of Apple's for one app (Apple: Establishing a certificate-based connection to APNs), from a PKCS#12 file or a PEM file with
/// certificate and key. Its end is announced in the log a month before, once a day. Thread-safe.
/// </summary>
internal sealed partial class ApnsCertificate : ApnsIdentity
{
    /// <summary>From here on its end is announced: a new one takes people some days.</summary>
    public static readonly TimeSpan AlarmBefore = TimeSpan.FromDays(30);

    private static readonly TimeSpan Daily = TimeSpan.FromDays(1);

    private readonly string _account;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly ITimer _timer;
    private X509Certificate2 _certificate;

    private ApnsCertificate(X509Certificate2 certificate, string account, TimeProvider time, ILogger logger)
        : base(time)
    {
        _certificate = certificate;
        _account = account;
        _time = SteadyClock.WallOf(time);
        _logger = logger;
        _timer = time.CreateTimer(static state => ((ApnsCertificate)state!).Announce(), this, TimeSpan.Zero, Daily);
    }

    public override X509Certificate2 Certificate => Volatile.Read(ref _certificate);

    public override TimeSpan Left => Certificate.NotAfter.ToUniversalTime() - _time.GetUtcNow();

    /// <summary>Reads the file's bytes; null with the problem in words when they are no usable certificate.</summary>
    public static ApnsCertificate? Read(byte[] bytes, string? password, string account, TimeProvider time, ILogger logger, out string? problem) =>
        Load(bytes, password, SteadyClock.WallOf(time), out problem) is { } certificate ? new ApnsCertificate(certificate, account, time, logger) : null;

    /// <summary>Takes the place of the former one; or says what is wrong, and changes nothing.</summary>
    public string? Take(byte[] bytes, string? password)
    {
        if (Load(bytes, password, _time, out var problem) is { } fresh)
        {
            // The former one is not disposed: a dial may hold it at this moment, and it is one object a year.
            Volatile.Write(ref _certificate, fresh);
            Announce();
            RaiseChanged();
        }

        return problem;
    }

    public override void Dispose()
    {
        _timer.Dispose();
        _certificate.Dispose();
    }

    private static X509Certificate2? Load(byte[] bytes, string? password, TimeProvider time, out string? problem)
    {
        X509Certificate2? certificate = null;
        try
        {
            certificate = X509Certificate2.GetCertContentType(bytes) == X509ContentType.Pkcs12
                ? X509CertificateLoader.LoadPkcs12(bytes, password)
                : FromPem(bytes, password);
        }
        catch (Exception exception) when (exception is CryptographicException or ArgumentException)
        {
            // Said below: the reader needs to know what to put there, not which parser gave up.
        }

        problem = certificate is null ? "not a PKCS#12 or PEM file with a certificate and its private key, or the password is wrong"
            : !certificate.HasPrivateKey ? "the certificate has no private key"
            : certificate.NotAfter.ToUniversalTime() <= time.GetUtcNow() ? "the certificate has expired"
            : null;
        if (problem is null)
        {
            return certificate;
        }

        certificate?.Dispose();
        return null;
    }

    private static X509Certificate2 FromPem(byte[] bytes, string? password)
    {
        var text = System.Text.Encoding.UTF8.GetString(bytes);
        return password is null ? X509Certificate2.CreateFromPem(text, text) : X509Certificate2.CreateFromEncryptedPem(text, text, password);
    }

    private void Announce()
    {
        if (Left < AlarmBefore)
        {
            Log.Ends(_logger, _account, Certificate.NotAfter.ToUniversalTime());
        }
    }

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Error, "The certificate of account {Account} ends at {End:u}. Put its successor in its file: it is taken without a restart.", EventName = "CertificateEnds")]
        public static partial void Ends(ILogger logger, string account, DateTimeOffset end);
    }
}
