using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Api.Hosting;
using Pnh.Api.Tests.EndToEnd;
using Pnh.TestKit;

namespace Pnh.Api.Tests.Configuration;

public sealed class ReloadTests
{
    /// <summary>Channels take a rotated key's id and file from the configuration of the running program; this is what keeps that up to date.</summary>
    [Fact]
    public async Task AppSettings_Changed_AreReadAgain()
    {
        using var folder = new TemporaryFolder();
        var file = Path.Combine(folder.FullPath, "appsettings.json");
        await File.WriteAllTextAsync(file, """{"Pnh":{"KeyId":"old"}}""");
        var builder = HubBuilder.Create(["--Pnh:Data=here"], folder.FullPath);
        Assert.Equal("old", builder.Configuration["Pnh:KeyId"]);

        await File.WriteAllTextAsync(file, """{"Pnh":{"KeyId":"new","Data":"there"}}""");
        await TestHub.EventuallyAsync(() => builder.Configuration["Pnh:KeyId"], static id => id == "new");
        Assert.Equal("here", builder.Configuration["Pnh:Data"]); // the command line stands above the file
    }

    [Fact]
    public async Task AppSettings_OfARunningHub_AreThoseOfItsBuilder()
    {
        await using var hub = await TestHub.StartAsync();
        var configuration = (IConfigurationBuilder)hub.Host.Services.GetRequiredService<IConfiguration>();
        Assert.Contains(configuration.Sources, static source => source is Microsoft.Extensions.Configuration.Json.JsonConfigurationSource
        {
            Path: "appsettings.json", ReloadOnChange: true, FileProvider: Microsoft.Extensions.FileProviders.PhysicalFileProvider { UseActivePolling: true },
        });
    }
}
