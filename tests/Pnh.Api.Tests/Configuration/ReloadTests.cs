using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Configuration.Json;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Api.Tests.EndToEnd;

namespace Pnh.Api.Tests.Configuration;

public sealed class ReloadTests
{
    /// <summary>Channels take a rotated key's id and file from the configuration of the running program; this is what keeps that up to date.</summary>
    [Fact]
    public async Task AppSettings_OfARunningHub_AreReadAgainWhenTheyChange()
    {
        await using var hub = await TestHub.StartAsync();

        var configuration = (IConfigurationBuilder)hub.Host.Services.GetRequiredService<IConfiguration>();

        Assert.True(configuration.Sources.OfType<JsonConfigurationSource>().Single(static source => source.Path == "appsettings.json").ReloadOnChange);
    }
}
