namespace Pnh.TestKit;

/// <summary><c>dotnet test</c> prints the names of skipped tests and not why they were: so the name says it.</summary>
public static class SkippedName
{
    /// <summary>The test's name with the reason behind it.</summary>
    public static string Of(string? test, string reason) => $"{test}: {reason}";
}
