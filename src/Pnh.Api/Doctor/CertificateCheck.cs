using System.Globalization;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Pnh.Api.Configuration;
using Pnh.Api.Listeners;

namespace Pnh.Api.Doctor;

/// <summary>Certificates that the configuration names: whether they can be read, and for how long they hold.</summary>
internal static class CertificateCheck
{
    private const string Listeners = ListenerCertificate.Section;

    // An authority that renews does so a month before; what has less left is renewed by nobody.
    private static readonly TimeSpan Soon = TimeSpan.FromDays(14);

    /// <summary>Notes that a listener has TLS and its certificate cannot be read, as the start would.</summary>
    /// <param name="configuration">All of it.</param>
    /// <param name="options">Its addresses.</param>
    /// <param name="folder">To which a path is relative.</param>
    /// <param name="errors">Where to.</param>
    public static void Check(IConfiguration configuration, PnhOptions options, string folder, ConfigurationErrors errors)
    {
        if (IsWanted(configuration, options))
        {
            using var certificate = TryRead(configuration.GetSection(Listeners), folder, out var problem);
            if (problem is not null)
            {
                errors.Add($"{Listeners}:Path", problem);
            }
        }
    }

    /// <summary>How long that of the listeners holds; null = they have none of their own.</summary>
    public static Finding? Look(IConfiguration configuration, PnhOptions options, string folder, TimeProvider time)
    {
        if (!IsWanted(configuration, options))
        {
            return null;
        }

        using var certificate = TryRead(configuration.GetSection(Listeners), folder, out var problem);
        return certificate is null ? new Finding(Grade.Bad, "certificate", problem!) : Judge("certificate", $"that of the listeners, {configuration[$"{Listeners}:Path"]},", certificate, time);
    }

    /// <summary>How long a certificate of a provider's account holds; null = the file is none, which the start says.</summary>
    public static Finding? LookAtAccount(string path, string? password, TimeProvider time)
    {
        try
        {
            using var certificate = X509Certificate2.GetCertContentType(path) == X509ContentType.Pkcs12
                ? X509CertificateLoader.LoadPkcs12FromFile(path, password) : X509CertificateLoader.LoadCertificateFromFile(path);
            return Judge("key file", path, certificate, time);
        }
        catch (Exception fault) when (fault is CryptographicException or IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    private static bool IsWanted(IConfiguration configuration, PnhOptions options) =>
        options.Urls.Concat(options.OperationsUrls).Any(static url => url.IsHttps) && configuration[$"{Listeners}:Path"] is { Length: > 0 };

    private static Finding Judge(string what, string name, X509Certificate2 certificate, TimeProvider time)
    {
        var left = certificate.NotAfter.ToUniversalTime() - time.GetUtcNow();
        var text = string.Create(CultureInfo.InvariantCulture, $"{name} holds for {left.TotalDays:F0} more days, until {certificate.NotAfter.ToUniversalTime():yyyy-MM-dd}");
        return left <= TimeSpan.Zero ? new Finding(Grade.Bad, what, $"{name} ended on {certificate.NotAfter.ToUniversalTime():yyyy-MM-dd}: renew it")
            : new Finding(left < Soon ? Grade.Doubtful : Grade.Good, what, left < Soon ? $"{text}: renew it" : text);
    }

    /// <summary>As Kestrel reads it. Null with the problem in words.</summary>
    private static X509Certificate2? TryRead(IConfigurationSection section, string folder, out string? problem)
    {
        problem = null;
        try
        {
            return CertificateFiles.Read(section, folder).Open();
        }
        catch (Exception fault) when (CertificateFiles.IsFault(fault))
        {
            var missing = new[] { section["Path"], section["KeyPath"] }.FirstOrDefault(name => name is { Length: > 0 } && !File.Exists(Path.Combine(folder, name)));
            problem = missing is not null ? $"{missing} does not exist" : $"{section["Path"]} cannot be used: {fault.Message.TrimEnd('.')}";
            return null;
        }
    }
}
