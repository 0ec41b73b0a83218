using System.ComponentModel.DataAnnotations;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Reflection;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Options;
using Pnh.Core.Settings;

namespace Pnh.Channels.Settings;

/// <summary>
/// Reads a record of settings out of its section: binds it, and holds it against its rules. The framework's binder stops at the first value that it cannot convert,
/// takes 24:00:00 for 24 days and any number for an enumeration, so each text is looked at first: what is wrong is noted and left out, and so all errors are found at once.
/// </summary>
internal static class SettingsReader
{
    /// <summary>The record; a wrong value leaves the default in its place, or itself where it broke a rule. Empty values count as absent.</summary>
    /// <param name="section">Where the record's properties are keys. Other keys are not looked at.</param>
    /// <param name="bind">The generated binder: <c>static section => section.Get&lt;T&gt;()</c>.</param>
    /// <param name="rules">The generated rules of the record; null = it has none.</param>
    /// <param name="fail">Takes a key of the section and what is wrong with its value, without the value.</param>
    public static T Read<[DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicProperties)] T>(
        IConfigurationSection section, Func<IConfiguration, T?> bind, IValidateOptions<T>? rules, Action<string, string> fail)
        where T : class, new()
    {
        var texts = new Dictionary<string, string?>(StringComparer.OrdinalIgnoreCase);
        foreach (var property in typeof(T).GetProperties())
        {
            if (property.PropertyType == typeof(string[]))
            {
                foreach (var (index, text) in List(section, property.Name).Index())
                {
                    texts.Add(string.Create(CultureInfo.InvariantCulture, $"{property.Name}:{index}"), text);
                }
            }
            else if (section[property.Name] is { Length: > 0 } text)
            {
                if (Convert(property, text) is { } converted)
                {
                    texts.Add(property.Name, converted);
                }
                else
                {
                    fail(property.Name, Form(property));
                }
            }
        }

        var record = bind(new ConfigurationBuilder().AddInMemoryCollection(texts).Build()) ?? new T();
        foreach (var failure in rules?.Validate(null, record).Failures ?? [])
        {
            // The generated rules write "member: message".
            var colon = failure.IndexOf(": ", StringComparison.Ordinal);
            fail(failure[..colon], failure[(colon + 2)..]);
        }

        return record;
    }

    /// <summary>One text parted by semicolons, or the values of the keys below.</summary>
    private static IEnumerable<string> List(IConfigurationSection section, string key) => section[key] is { Length: > 0 } text
        ? text.Split(';', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries)
        : section.GetSection(key).GetChildren().Select(static child => child.Value ?? "");

    /// <summary>The text as the binder reads it without a doubt; null when the property's type does not take it.</summary>
    private static string? Convert(PropertyInfo property, string text)
    {
        var type = Nullable.GetUnderlyingType(property.PropertyType) ?? property.PropertyType;
        if (type == typeof(string))
        {
            return text;
        }

        if (type == typeof(bool))
        {
            return bool.TryParse(text, out _) ? text : null;
        }

        if (type == typeof(TimeSpan))
        {
            var fractions = property.GetCustomAttribute<DurationAttribute>()?.Fractions ?? false;
            return DurationText.TryParseClock(text, fractions, out var duration) ? duration.ToString("c", CultureInfo.InvariantCulture) : null;
        }

        if (type.IsEnum)
        {
            return Enum.GetNames(type).FirstOrDefault(name => name.Equals(text, StringComparison.OrdinalIgnoreCase));
        }

        var most = type == typeof(int) ? int.MaxValue : long.MaxValue;
        return long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number <= most ? text : null;
    }

    /// <summary>What the text must be: the property's rule says it, or its type.</summary>
    private static string Form(PropertyInfo property)
    {
        var type = Nullable.GetUnderlyingType(property.PropertyType) ?? property.PropertyType;
        return property.GetCustomAttribute<ValidationAttribute>() is { } rule ? rule.FormatErrorMessage(property.Name)
            : type.IsEnum ? $"must be {string.Join(" or ", Enum.GetNames(type)).ToLowerInvariant()}"
            : "must be true or false";
    }
}
