using System.ComponentModel.DataAnnotations;
using System.Globalization;

namespace Pnh.Core.Settings;

/// <summary>The rule of a duration: from one to another, as <c>hh:mm:ss</c> or <c>d.hh:mm:ss</c>.</summary>
[AttributeUsage(AttributeTargets.Property)]
public sealed class DurationAttribute : ValidationAttribute
{
    private readonly TimeSpan _least;
    private readonly TimeSpan _most;

    /// <param name="least">The shortest, as <see cref="TimeSpan"/> writes it.</param>
    /// <param name="most">The longest.</param>
    public DurationAttribute(string least, string most)
    {
        (Least, Most) = (least, most);
        (_least, _most) = (TimeSpan.Parse(least, CultureInfo.InvariantCulture), TimeSpan.Parse(most, CultureInfo.InvariantCulture));
    }

    /// <summary>The shortest, as it was given.</summary>
    public string Least { get; }

    /// <summary>The longest, as it was given.</summary>
    public string Most { get; }

    /// <summary>Milliseconds may be given too. What runs by a clock of seconds does not take them.</summary>
    public bool Fractions { get; init; }

    /// <inheritdoc/>
    public override bool IsValid(object? value) => value is not TimeSpan duration || (duration >= _least && duration <= _most);

    /// <inheritdoc/>
    public override string FormatErrorMessage(string name) =>
        $"must be a duration like {(Fractions ? "00:00:30 or 00:00:00.500 (hh:mm:ss, hh:mm:ss.fff)" : "00:00:30 (hh:mm:ss)")}, {Least} to {Most}";
}
