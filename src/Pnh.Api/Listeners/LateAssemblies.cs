using System.Reflection;

namespace Pnh.Api.Listeners;

/// <summary>
/// Assemblies that the hub uses only when something happens: a dial, an upload, an exception. The runtime keeps two files of each open, so they are loaded
/// before the rest of the descriptors is dealt out; a load that failed for want of one would fail for good.
/// </summary>
internal static class LateAssemblies
{
    private static readonly string[] Names =
    [
        "Microsoft.AspNetCore.Http.Features", "Microsoft.AspNetCore.Metadata", "Microsoft.AspNetCore.WebUtilities", "Microsoft.Extensions.Http.Resilience",
        "Microsoft.Extensions.Telemetry.Abstractions", "Polly.Core", "Polly.Extensions", "System.ComponentModel.Annotations", "System.ComponentModel.TypeConverter", "System.Diagnostics.StackTrace", "System.Diagnostics.TraceSource",
        "System.Net.Http", "System.Net.WebSockets", "System.Reflection.Metadata", "System.Security.Claims", "System.Text.RegularExpressions",
    ];

    /// <summary>Loads them; one that is not there is not missed.</summary>
    public static void Load()
    {
        foreach (var name in Names)
        {
            try
            {
                Assembly.Load(name);
            }
            catch (FileNotFoundException)
            {
                // Of another version of the framework.
            }
        }
    }
}
