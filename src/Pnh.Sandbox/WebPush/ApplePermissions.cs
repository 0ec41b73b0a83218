using System.Collections.Concurrent;

namespace Pnh.Sandbox.WebPush;

/// <summary>
/// Whether a site may still push to a Safari: the third push that shows nothing takes the permission away, and from then on the subscription is gone. Forgotten at a restart. Thread-safe.
/// </summary>
internal sealed class ApplePermissions
{
    /// <summary>So many pushes may show nothing; the last of them is one too many.</summary>
    public const int MostSilent = 3;

    private readonly ConcurrentDictionary<string, int> _silent = new(StringComparer.Ordinal);

    public bool IsRevoked(string name) => _silent.TryGetValue(name, out int count) && count >= MostSilent;

    /// <summary>One more push to this browser showed nothing.</summary>
    public void ShowedNothing(string name) => _silent.AddOrUpdate(name, 1, static (_, count) => count + 1);
}
