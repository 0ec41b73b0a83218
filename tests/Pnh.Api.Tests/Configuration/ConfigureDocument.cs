using System.Globalization;
using System.Reflection;
using System.Text;
using System.Text.RegularExpressions;
using System.Xml.Linq;
using Pnh.Channels.Settings;
using Pnh.Core.Settings;

namespace Pnh.Api.Tests.Configuration;

/// <summary>The tables of <c>docs/configure.md</c>, made of the records of settings and their docstrings.</summary>
internal static partial class ConfigureDocument
{
    private static readonly Dictionary<string, XElement> Docstrings = ReadDocstrings();

    /// <summary>A table for each group, groups of one place together.</summary>
    public static string Write(IEnumerable<SettingsGroup> groups)
    {
        var text = new StringBuilder();
        foreach (var place in groups.GroupBy(static group => group.Place))
        {
            var name = place.Key.Length == 0 ? "Pnh" : "Pnh:" + Named(place.Key);
            text.Append(CultureInfo.InvariantCulture, $"\n## `{name}`\n{string.Join(' ', place.Select(static group => Summary($"T:{group.Type.FullName}")))}\n\n");
            text.Append("| key | what it says | form | default | taken without a restart |\n|---|---|---|---|---|\n");
            foreach (var group in place)
            {
                var defaults = Activator.CreateInstance(group.Type);
                foreach (var property in group.Type.GetProperties())
                {
                    text.Append(CultureInfo.InvariantCulture, $"{Row(property, property.GetValue(defaults))}\n");
                }
            }
        }

        return text.ToString();
    }

    /// <summary>What a property says of itself, as one line.</summary>
    public static string Docstring(PropertyInfo property) => Summary($"P:{property.DeclaringType!.FullName}.{property.Name}");

    private static string Row(PropertyInfo property, object? value)
    {
        var summary = Docstring(property);
        var standard = value switch
        {
            null or string[] or "" => "",
            TimeSpan time => Written(time),
            bool or Enum => string.Create(CultureInfo.InvariantCulture, $"{value}").ToLowerInvariant(),
            int or long => string.Create(CultureInfo.InvariantCulture, $"{value:D}"),
            _ => value.ToString()!,
        };

        // The sentence that says no more than the column does is left out.
        return $"| `{property.Name}` | {(standard.Length == 0 ? summary : DefaultSentence().Replace(summary, ""))} | {Form(property)} | {(standard.Length == 0 ? "" : $"`{standard}`")} | {Live(property)} |";
    }

    private static string Live(PropertyInfo property) => property.GetCustomAttribute<TakenLiveAttribute>()?.From switch
    {
        LiveSource.Text => "text",
        LiveSource.File => "file",
        _ => "restart",
    };

    private static string Written(TimeSpan time) => string.Create(
        CultureInfo.InvariantCulture, $"{(int)time.TotalHours:D2}:{time.Minutes:D2}:{time.Seconds:D2}{(time.Milliseconds > 0 ? $".{time.Milliseconds:D3}" : "")}");

    private static string Form(PropertyInfo property)
    {
        var type = Nullable.GetUnderlyingType(property.PropertyType) ?? property.PropertyType;
        return property.GetCustomAttribute<DurationAttribute>() is { } duration ? $"`hh:mm:ss{(duration.Fractions ? "` or `hh:mm:ss.fff" : "")}`, {duration.Least} to {duration.Most}"
            : property.GetCustomAttribute<WholeNumberAttribute>() is { } number ? Range(number)
            : type == typeof(bool) ? "`true` or `false`"
            : type.IsEnum ? string.Join(" or ", Enum.GetNames(type).Select(static name => $"`{name.ToLowerInvariant()}`"))
            : type == typeof(string[]) ? "list"
            : "text";
    }

    private static string Range(WholeNumberAttribute number) => number.Most is int.MaxValue or long.MaxValue
        ? string.Create(CultureInfo.InvariantCulture, $"number, {number.Least} or more")
        : string.Create(CultureInfo.InvariantCulture, $"number, {number.Least} to {number.Most}");

    // Apps:*:Keys:* is Apps:{app}:Keys:{n}, Classes:* is Classes:{class}.
    private static string Named(string place) => place
        .Replace("Apps:*", "Apps:{app}", StringComparison.Ordinal).Replace("Classes:*", "Classes:{class}", StringComparison.Ordinal).Replace(":*", ":{n}", StringComparison.Ordinal);

    private static string Summary(string member)
    {
        var summary = Docstrings[member].Element("summary")!;
        foreach (var reference in summary.Elements().ToList())
        {
            reference.ReplaceWith($"`{reference.Attribute("cref")?.Value.Split('.', ':')[^1] ?? reference.Value}`");
        }

        return Space().Replace(summary.Value, " ").Trim();
    }

    private static Dictionary<string, XElement> ReadDocstrings() => Directory.EnumerateFiles(AppContext.BaseDirectory, "*.xml")
        .Where(static file => Path.GetFileName(file).StartsWith("pnh", StringComparison.OrdinalIgnoreCase))
        .SelectMany(static file => XDocument.Load(file).Descendants("member"))
        .GroupBy(static member => member.Attribute("name")!.Value)
        .ToDictionary(static member => member.Key, static member => member.First());

    [GeneratedRegex(@" Default (?:[^,;]|,\d)*\.$")]
    private static partial Regex DefaultSentence();

    [GeneratedRegex(@"\s+")]
    private static partial Regex Space();
}
