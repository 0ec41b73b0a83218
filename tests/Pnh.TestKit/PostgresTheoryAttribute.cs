using System.Runtime.CompilerServices;
using Xunit;

namespace Pnh.TestKit;

/// <summary>A theory that needs PostgreSQL. Without it, it is skipped, visibly; with PNH_REQUIRE_ALL=1 (continuous integration) it runs all the same and fails.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class PostgresTheoryAttribute : TheoryAttribute
{
    public PostgresTheoryAttribute([CallerMemberName] string? test = null)
    {
        Timeout = 180_000;
        if (PostgresServer.SkipReason is { } missing)
        {
            Skip = missing;
            DisplayName = SkippedName.Of(test, missing);
        }
    }
}
