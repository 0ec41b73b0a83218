using System.Runtime.CompilerServices;
using Xunit;

namespace Pnh.TestKit;

/// <summary>A fact that only root can try, such as one of another user's files. Skipped, visibly, for everybody else.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class RootFactAttribute : FactAttribute
{
    public RootFactAttribute([CallerMemberName] string? test = null)
    {
        if (!Environment.IsPrivilegedProcess)
        {
            Skip = "needs root";
            DisplayName = SkippedName.Of(test, Skip);
        }
    }
}
