using System.Globalization;

namespace Pnh.Api.Doctor;

/// <summary>The files that the configuration names as keys and certificates: how old each is, and who may read it. Their content is the start's to judge.</summary>
internal static class KeyCheck
{
    private const UnixFileMode Others = UnixFileMode.OtherRead | UnixFileMode.OtherWrite;
    private static readonly string[] Files = ["KeyFile", "ServiceAccountFile", "CertificateFile"];

    // A key of Web Push stays: each subscription is made for it. A certificate ends by its own date.
    private static readonly Dictionary<string, string> Renewals = new(StringComparer.Ordinal)
    {
        ["Apns:KeyFile"] = "make a new key at Apple; put its file and its KeyId into the configuration together. In appsettings.json both are taken without a restart, in the environment with one. "
            + "Revoke the old key when the log says that the credential is in use and pushes are accepted",
        ["Fcm:ServiceAccountFile"] = "make a new key of the same service account at Google and put its JSON into the file, which is taken without a restart. "
            + "Delete the old key when the log says that the credential is in use and pushes are accepted",
    };

    private static readonly TimeSpan Old = TimeSpan.FromDays(365);

    /// <summary>One finding for each file of the section that is there.</summary>
    public static IEnumerable<Finding> Look(IConfigurationSection section, TimeProvider time)
    {
        foreach (var child in section.GetChildren())
        {
            if (Array.IndexOf(Files, child.Key) >= 0 && child.Value is { Length: > 0 } path && File.Exists(path))
            {
                yield return Judge(child.Path, path, time.GetUtcNow() - File.GetLastWriteTimeUtc(path));
                if (child.Key == "CertificateFile" && CertificateCheck.LookAtAccount(path, section["CertificatePassword"], time) is { } certificate)
                {
                    yield return certificate;
                }
            }

            foreach (var found in Look(child, time))
            {
                yield return found;
            }
        }
    }

    private static Finding Judge(string setting, string path, TimeSpan age)
    {
        var text = string.Create(CultureInfo.InvariantCulture, $"{path} is {Math.Max(0, (int)age.TotalDays)} days old");
        if (!OperatingSystem.IsWindows() && (File.GetUnixFileMode(path) & Others) != 0)
        {
            return new Finding(Grade.Doubtful, "key file", $"{text}, and everybody on this machine may read it: chmod o-rwx {path}");
        }

        return age > Old && Renewal(setting) is { } renewal ? new Finding(Grade.Doubtful, "key file", $"{text}: {renewal}") : new Finding(Grade.Good, "key file", text);
    }

    // Pnh:Apps:{app}:{provider}:{n}:{file}
    private static string? Renewal(string setting) =>
        setting.Split(':') is [.., var provider, _, var file] ? Renewals.GetValueOrDefault($"{provider}:{file}") : null;
}
