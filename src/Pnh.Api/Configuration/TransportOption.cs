using System.Globalization;

namespace Pnh.Api.Configuration;

/// <summary>
/// A choice between the framework's path and our direct one, with the share of connections that takes the direct one, so that it can be
/// rolled out in steps and back. Text: <c>Framework</c>, <c>Direct</c> (all), <c>Direct:25%</c>; case does not matter.
/// </summary>
/// <param name="DirectPercent">0 = framework for all, 100 = direct for all.</param>
internal readonly record struct TransportOption(int DirectPercent)
{
    /// <summary>The framework's path for every connection.</summary>
    public static TransportOption Framework { get; } = new(0);

    /// <summary>Ours for every connection.</summary>
    public static TransportOption Direct { get; } = new(100);

    /// <summary>Reads the text form; false when the text is not one.</summary>
    public static bool TryParse(string? text, out TransportOption option)
    {
        option = Framework;
        if (string.Equals(text, "Framework", StringComparison.OrdinalIgnoreCase))
        {
            return true;
        }

        if (string.Equals(text, "Direct", StringComparison.OrdinalIgnoreCase))
        {
            option = Direct;
            return true;
        }

        const string prefix = "Direct:";
        if (text is null || !text.StartsWith(prefix, StringComparison.OrdinalIgnoreCase) || !text.EndsWith('%')
            || !int.TryParse(text.AsSpan(prefix.Length, text.Length - prefix.Length - 1), NumberStyles.None, CultureInfo.InvariantCulture, out var percent)
            || percent > 100)
        {
            return false;
        }

        option = new(percent);
        return true;
    }

    /// <summary>
    /// Whether a connection takes the direct path: by its running number, so that the share is exact over any hundred connections in a row.
    /// </summary>
    public bool IsDirect(long connectionNumber) => (ulong)connectionNumber % 100 * 37 % 100 < (ulong)DirectPercent;

    /// <summary>The text form.</summary>
    public override string ToString() => DirectPercent switch
    {
        0 => "Framework",
        100 => "Direct",
        _ => string.Create(CultureInfo.InvariantCulture, $"Direct:{DirectPercent}%"),
    };
}
