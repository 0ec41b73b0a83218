using System.Reflection;

namespace Pnh.Api.Configuration;

/// <summary>The program's version, as <c>--version</c>, the console and <c>pnh_build_info</c> have it.</summary>
internal static class ProgramVersion
{
    /// <summary>As the build stamped it, without the commit; <c>0.0.0</c> when the build stamped none.</summary>
    public static string Text { get; } =
        typeof(ProgramVersion).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion.Split('+')[0] ?? "0.0.0";
}
