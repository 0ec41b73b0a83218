using System.Globalization;

namespace Pnh.Sandbox.Fcm;

/// <summary>google.protobuf.Duration in JSON: seconds with up to nine decimals and the suffix <c>s</c>, as in <c>3.5s</c>.</summary>
internal static class ProtoDuration
{
    private const int MaxDecimals = 9;

    public static bool TryParse(string text, out decimal seconds)
    {
        seconds = 0;
        if (text.Length < 2 || text[^1] != 's')
        {
            return false;
        }

        ReadOnlySpan<char> number = text.AsSpan(0, text.Length - 1);
        int dot = number.IndexOf('.');
        return (dot < 0 || (dot > 0 && number.Length - dot - 1 is > 0 and <= MaxDecimals))
            && decimal.TryParse(number, NumberStyles.AllowLeadingSign | NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out seconds);
    }
}
