using System.Globalization;

namespace Pnh.Api.Doctor;

/// <summary>The files that the configuration names as keys and certificates: how old each is, and who may read it. Their content is the start's to judge.</summary>
internal static class KeyCheck
{
    private const UnixFileMode Others = UnixFileMode.OtherRead | UnixFileMode.OtherWrite;
    private static readonly string[] Files = ["KeyFile", "ServiceAccountFile", "CertificateFile"];

    // Of what a provider takes a new one of at any time. A key of Web Push stays: each subscription is made for it.
    private static readonly string[] Renewed = ["Apns", "Fcm"];
    private static readonly TimeSpan Old = TimeSpan.FromDays(365);

    /// <summary>One finding for each file of the section that is there.</summary>
    public static IEnumerable<Finding> Look(IConfigurationSection section, TimeProvider time)
    {
        foreach (var child in section.GetChildren())
        {
            if (Array.IndexOf(Files, child.Key) >= 0 && child.Value is { Length: > 0 } path && File.Exists(path))
            {
                yield return Judge(child.Path, path, time.GetUtcNow() - File.GetLastWriteTimeUtc(path));
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

        return age > Old && setting.Split(':').Intersect(Renewed).Any()
            ? new Finding(Grade.Doubtful, "key file", $"{text}: make a new one at the provider and put it into the file, which is taken without a restart; then revoke the old one")
            : new Finding(Grade.Good, "key file", text);
    }
}
