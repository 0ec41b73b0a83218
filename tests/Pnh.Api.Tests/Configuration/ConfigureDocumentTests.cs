using System.Globalization;
using System.Reflection;
using System.Text.RegularExpressions;
using Microsoft.Extensions.Configuration;
using Pnh.Api.Configuration;
using Pnh.Api.Tests.Layering;
using Pnh.Channels.Apns;
using Pnh.Channels.Fcm;
using Pnh.Channels.Settings;
using Pnh.Channels.WebPush;

namespace Pnh.Api.Tests.Configuration;

/// <summary>What <c>docs/configure.md</c> says is what the program reads.</summary>
public sealed partial class ConfigureDocumentTests
{
    private const string Mark = "<!-- Below this line the page is made of the records of settings: PNH_WRITE_DOCUMENTS=1 dotnet test tests/Pnh.Api.Tests --filter ConfigureDocument -->\n";

    private static readonly IReadOnlyList<SettingsGroup> Groups = [.. KnownKeys.Groups, ApnsModule.Settings, FcmModule.Settings, WebPushModule.Settings];

    [Fact]
    public void Configure_Tables_AreThoseOfTheRecords() =>
        MadeDocument.AssertEndsWith("configure.md", static page => page.IndexOf(Mark, StringComparison.Ordinal) + Mark.Length, ConfigureDocument.Write(Groups));

    /// <summary>A default that a docstring writes as a plain number or duration is the one of the record.</summary>
    [Fact]
    public void Docstrings_DefaultsInNumbers_AreThoseOfTheRecords()
    {
        var checkedDefaults = 0;
        foreach (var group in Groups)
        {
            var defaults = Activator.CreateInstance(group.Type);
            foreach (var property in group.Type.GetProperties())
            {
                if (property.GetValue(defaults) is { } value && Said(property, value) is { } said)
                {
                    checkedDefaults++;
                    Assert.True(said.Equals(Convert.ToDouble(value is TimeSpan time ? time.TotalSeconds : value, CultureInfo.InvariantCulture)), $"{property.DeclaringType!.Name}.{property.Name}");
                }
            }
        }

        Assert.InRange(checkedDefaults, 20, 100);
    }

    /// <summary>Every list of settings in the packaged configuration is known.</summary>
    [Fact]
    public void Appsettings_AsShipped_HasKnownKeysOnly()
    {
        var configuration = new ConfigurationBuilder().AddJsonFile(Path.Combine(SourceTree.Root, "src", "Pnh.Api", "appsettings.json")).Build();
        Assert.Empty(PnhConfiguration.Read(configuration, KnownKeys.Hub(), "/").Errors.All);
    }

    private static double? Said(PropertyInfo property, object value)
    {
        if (value is not (int or long or TimeSpan) || DefaultNumber().Match(ConfigureDocument.Docstring(property)) is not { Success: true } match)
        {
            return null;
        }

        var number = double.Parse(match.Groups[1].Value, NumberStyles.AllowThousands, CultureInfo.InvariantCulture);
        return number * match.Groups[2].Value switch { "kB" => 1024, "MB" or "MiB" => 1024 * 1024, "h" => 3600, _ => 1 };
    }

    [GeneratedRegex(@"Default ([\d,]*\d) ?(kB|MB|MiB|h|s)?\b")]
    private static partial Regex DefaultNumber();
}
