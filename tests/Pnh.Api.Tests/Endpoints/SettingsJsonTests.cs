using System.Text;
using Pnh.Api.Bodies;
using Pnh.Core.Events;

namespace Pnh.Api.Tests.Endpoints;

public sealed class SettingsJsonTests
{
    [Theory]
    [InlineData("Europe/Berlin")]
    [InlineData("America/Argentina/Buenos_Aires")]
    [InlineData("Asia/Calcutta")]
    [InlineData("US/Eastern")]
    [InlineData("Etc/GMT+3")]
    [InlineData("UTC")]
    public void Read_ZoneOrAlias_IsTaken(string zone) => Assert.Empty(Read(zone));

    // Each of these opens a file, and .NET would keep every spelling of it for ever.
    [Theory]
    [InlineData("Europe//Berlin")]
    [InlineData("Europe/Berlin/")]
    [InlineData("./Europe/Berlin")]
    [InlineData("Etc/../Europe/Berlin")]
    [InlineData("/usr/share/zoneinfo/Europe/Berlin")]
    [InlineData("posix/Europe/Berlin")]
    [InlineData("posix/America//New_York")]
    [InlineData("right/Europe/Berlin")]
    [InlineData("localtime")]
    [InlineData("posixrules")]
    [InlineData("zone.tab")]
    [InlineData("Nowhere/Land")]
    [InlineData("")]
    public void Read_AnotherSpelling_IsUnknown(string zone)
    {
        var error = Assert.Single(Read(zone));

        Assert.Equal(("/quietHours/timeZone", "unknown-value"), (error.Pointer, error.Code));
    }

    private static List<FieldError> Read(string zone)
    {
        var errors = new List<FieldError>();
        SettingsJson.Read(Encoding.UTF8.GetBytes($$$"""{"quietHours":{"from":"22:00","to":"07:00","timeZone":"{{{zone}}}"}}"""), errors);
        return errors;
    }
}
