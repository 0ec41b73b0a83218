using Microsoft.Extensions.Configuration.Json;
using Microsoft.Extensions.FileProviders;

namespace Pnh.Api.Hosting;

/// <summary>
/// The builder of a hub, with the usual sources of configuration. appsettings.json is looked at every 4 s instead of watched: each watcher takes one of the 128 inotify
/// instances that a user has by default (<c>fs.inotify.max_user_instances</c>), and where neighbours have them all the start would fail.
/// </summary>
internal static class HubBuilder
{
    /// <summary>A builder for configuration tokens (<c>--Pnh:Urls=…</c>) and the files of a folder; null = that of the program.</summary>
    public static WebApplicationBuilder Create(string[] tokens, string? folder = null)
    {
        // A line feed alone ends no line (RFC 9112 section 2.2 lets it, and proxies that differ make two requests of one).
        AppContext.SetSwitch("Microsoft.AspNetCore.Server.Kestrel.DisableHttp1LineFeedTerminators", true);
        folder ??= AppContext.BaseDirectory;
        var builder = WebApplication.CreateSlimBuilder(new WebApplicationOptions
        {
            Args = [.. tokens, "--hostBuilder:reloadConfigOnChange=false"],
            ContentRootPath = folder,
        });
        var polled = new PhysicalFileProvider(folder) { UsePollingFileWatcher = true, UseActivePolling = true };
        var sources = ((IConfigurationBuilder)builder.Configuration).Sources;
        for (var i = 0; i < sources.Count; i++)
        {
            if (sources[i] is JsonConfigurationSource file)
            {
                sources[i] = new JsonConfigurationSource
                {
                    Path = file.Path!,
                    Optional = file.Optional,
                    ReloadOnChange = true,
                    FileProvider = polled,
                };
            }
        }

        return builder;
    }
}
