using System.Runtime.CompilerServices;
using Xunit;

namespace Pnh.TestKit;

/// <summary>
/// A fact that needs a program on PATH. Without the program it is skipped, visibly; with PNH_REQUIRE_ALL=1 (continuous
/// integration) it runs all the same and fails, so that a missing program cannot pass for a passed test.
/// </summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class RequiresFactAttribute : FactAttribute
{
    public RequiresFactAttribute(string program, [CallerMemberName] string? test = null)
    {
        Program = program;
        if (Environment.GetEnvironmentVariable("PNH_REQUIRE_ALL") != "1" && !IsOnPath(program))
        {
            Skip = $"{program} is not on PATH";
            DisplayName = SkippedName.Of(test, Skip);
        }
    }

    public string Program { get; }

    private static bool IsOnPath(string program) =>
        (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
            .Any(folder => File.Exists(Path.Combine(folder, program)));
}
