using System.ComponentModel.DataAnnotations;
using System.Globalization;

namespace Pnh.Core.Settings;

/// <summary>The rule of a whole number: from one to another.</summary>
/// <param name="least">The smallest.</param>
/// <param name="most">The largest.</param>
[AttributeUsage(AttributeTargets.Property)]
public sealed class WholeNumberAttribute(long least, long most) : ValidationAttribute
{
    /// <summary>The smallest.</summary>
    public long Least => least;

    /// <summary>The largest.</summary>
    public long Most => most;

    /// <inheritdoc/>
    public override bool IsValid(object? value) => value is null || (Convert.ToInt64(value, CultureInfo.InvariantCulture) is var number && number >= least && number <= most);

    /// <inheritdoc/>
    public override string FormatErrorMessage(string name) => string.Create(CultureInfo.InvariantCulture, $"must be a whole number, {least} to {most}");
}
