using System.Runtime.CompilerServices;
using Xunit;

namespace Pnh.TestKit;

/// <summary>As <see cref="PostgresTheoryAttribute"/>, for one fact.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class PostgresFactAttribute : FactAttribute
{
    public PostgresFactAttribute([CallerMemberName] string? test = null)
    {
        Timeout = 180_000;
        if (PostgresServer.SkipReason is { } missing)
        {
            Skip = missing;
            DisplayName = SkippedName.Of(test, missing);
        }
    }
}
