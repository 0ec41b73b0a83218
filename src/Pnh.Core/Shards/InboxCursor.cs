using System.Globalization;

namespace Pnh.Core.Shards;

/// <summary>A place in an inbox: when the event was accepted, and its id among those of the same instant. Its text is opaque to clients.</summary>
internal readonly record struct InboxCursor(long Ticks, string? Id)
{
    internal bool IsAfter(InboxCursor other) => CompareTo(other) > 0;

    internal int CompareTo(InboxCursor other) => Ticks != other.Ticks ? Ticks.CompareTo(other.Ticks) : string.CompareOrdinal(Id, other.Id);

    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Ticks:x}.{Id}");

    /// <summary>Null text is the beginning. Throws <see cref="FormatException"/> for anything that <see cref="ToString"/> did not make.</summary>
    internal static InboxCursor Parse(string? text)
    {
        if (text is null)
        {
            return default;
        }

        var dot = text.IndexOf('.', StringComparison.Ordinal);
        return dot > 0 && long.TryParse(text.AsSpan(0, dot), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var ticks)
            ? new InboxCursor(ticks, text[(dot + 1)..])
            : throw new FormatException("Not a cursor of an inbox.");
    }
}
