using System.Globalization;
using Pnh.Channels.Provider.Connections;

namespace Pnh.Api.Doctor;

/// <summary>Whether each provider is reached, whom its certificate is by, and whether its clock and ours are one.</summary>
internal sealed class ProviderCheck(IEnumerable<ProviderGauges> providers, ProviderTrust trust, TimeProvider time)
{
    // A provider's token is refused when its date is far from theirs.
    private static readonly TimeSpan MostSkew = TimeSpan.FromMinutes(1);

    /// <summary>One finding for each address of each channel, and one for the clock.</summary>
    public async Task<IReadOnlyList<Finding>> LookAsync(CancellationToken cancellationToken)
    {
        var found = new List<Finding>();
        var skews = new List<TimeSpan>();
        foreach (var provider in providers)
        {
            foreach (var origin in provider.Origins)
            {
                var reach = await ProviderReach.TryAsync(origin, trust, time, cancellationToken);
                found.Add(Judge(provider.Channel, reach));
                skews.AddRange(reach.Skew is { } skew ? [skew] : []);
            }
        }

        if (skews.Count > 0)
        {
            var worst = skews.MaxBy(static skew => skew.Duration());
            found.Add(new Finding(
                worst.Duration() > MostSkew ? Grade.Bad : Grade.Good,
                "clock",
                string.Create(CultureInfo.InvariantCulture, $"{worst.TotalSeconds:F0} s from the providers'{(worst.Duration() > MostSkew ? ": tokens will be refused; set the clock by NTP" : "")}")));
        }

        return found;
    }

    private Finding Judge(string channel, ProviderReach reach)
    {
        if (reach.Fault is { } fault)
        {
            return new Finding(Grade.Bad, channel, $"{reach.Origin} is not reached: {fault}. Let the hub's machine out to it, TLS unopened on the way");
        }

        var days = reach.CertificateEnds is { } ends ? (ends - time.GetUtcNow()).TotalDays : double.MaxValue;
        var text = string.Create(CultureInfo.InvariantCulture, $"{reach.Origin} answers in {reach.Took.TotalMilliseconds:F0} ms; certificate by {reach.Issuer ?? "nobody: no TLS"}, for {days:F0} more days");
        return new Finding(Grade.Good, channel, text);
    }
}
