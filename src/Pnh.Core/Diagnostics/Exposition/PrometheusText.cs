using System.Buffers;
using System.Globalization;

namespace Pnh.Core.Diagnostics.Exposition;

/// <summary>
/// The Prometheus text format 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/): escapes, names and numbers.
/// </summary>
internal static class PrometheusText
{
    // "-1.7976931348623157E+308" is the longest double.
    private const int NumberBytes = 32;

    /// <summary>Throws unless <paramref name="name"/> is a legal metric or label name (<c>[a-zA-Z_][a-zA-Z0-9_]*</c>; colons are for recording rules).</summary>
    public static void CheckName(string name)
    {
        if (name.Length == 0 || char.IsAsciiDigit(name[0]) || name.AsSpan().ContainsAnyExcept(NameCharacters))
        {
            throw new ArgumentException($"'{name}' is not a metric or label name.", nameof(name));
        }
    }

    /// <summary>In a label value the backslash, the quote and the line feed are escaped.</summary>
    public static string EscapeLabel(string value) => value
        .Replace("\\", "\\\\", StringComparison.Ordinal).Replace("\"", "\\\"", StringComparison.Ordinal).Replace("\n", "\\n", StringComparison.Ordinal);

    /// <summary>In HELP the backslash and the line feed are escaped, the quote is not.</summary>
    public static string EscapeHelp(string help) => help
        .Replace("\\", "\\\\", StringComparison.Ordinal).Replace("\n", "\\n", StringComparison.Ordinal);

    /// <summary>A number as it stands in a sample or an <c>le</c> label.</summary>
    public static string Format(double value) => value switch
    {
        double.PositiveInfinity => "+Inf",
        double.NegativeInfinity => "-Inf",
        double.NaN => "NaN",
        _ => value.ToString("R", CultureInfo.InvariantCulture),
    };

    /// <summary>One sample line: the encoded name with labels, the number, a line feed.</summary>
    public static void WriteSample(IBufferWriter<byte> output, ReadOnlySpan<byte> prefix, long value)
    {
        output.Write(prefix);
        var span = output.GetSpan(NumberBytes);
        value.TryFormat(span, out var written, default, CultureInfo.InvariantCulture);
        span[written] = (byte)'\n';
        output.Advance(written + 1);
    }

    /// <inheritdoc cref="WriteSample(IBufferWriter{byte},ReadOnlySpan{byte},long)"/>
    public static void WriteSample(IBufferWriter<byte> output, ReadOnlySpan<byte> prefix, double value)
    {
        output.Write(prefix);
        if (double.IsFinite(value))
        {
            var span = output.GetSpan(NumberBytes);
            value.TryFormat(span, out var written, "R", CultureInfo.InvariantCulture);
            span[written] = (byte)'\n';
            output.Advance(written + 1);
            return;
        }

        output.Write(double.IsNaN(value) ? "NaN\n"u8 : value > 0 ? "+Inf\n"u8 : "-Inf\n"u8);
    }

    private static readonly SearchValues<char> NameCharacters =
        SearchValues.Create("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}
