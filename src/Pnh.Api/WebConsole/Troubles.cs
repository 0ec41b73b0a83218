using System.Globalization;
using Pnh.Api.Operations;
using Pnh.Channels.Provider.Connections;
using Pnh.Core.Diagnostics;

namespace Pnh.Api.WebConsole;

/// <summary>What an operator has to look at now, a line each: stores, the disk, breakers, credentials, the clock. Thread-safe; quick, and waits for nothing.</summary>
internal sealed class Troubles(Readiness readiness, IEnumerable<ProviderGauges> providers)
{
    // Apple and Google refuse tokens that are dated an hour wrong; a minute is a clock that nobody sets.
    private const double MostSkew = 60;

    /// <summary>The lines; none = nothing is known to be wrong.</summary>
    public IReadOnlyList<string> Read()
    {
        var found = new List<string>();
        if (readiness.Fault is { } fault)
        {
            found.Add(fault);
        }

        foreach (var provider in providers)
        {
            foreach (var (reading, label, read) in provider.Readings)
            {
                if (Line(reading, provider.Channel, label, read) is { } line)
                {
                    found.Add(line);
                }
            }
        }

        return found;
    }

    private static string? Line(ProviderReading reading, string channel, string label, Func<double> read) => reading switch
    {
        ProviderReading.OpenBreakers when read() > 0 => $"{channel}: a breaker is open, its pushes wait and are tried again",
        ProviderReading.CredentialSecondsLeft when read() < 0 => $"{channel}: the credential of {label} has run out",
        ProviderReading.ClockSkew when Math.Abs(read()) > MostSkew =>
            string.Create(CultureInfo.InvariantCulture, $"{channel}: this machine's clock is {Math.Abs(read()):F0} s {(read() > 0 ? "ahead of" : "behind")} the provider's"),
        _ => null,
    };
}
