using Pnh.Channels.Net.Http2;

namespace Pnh.Channels.Tests.Http2;

public sealed class InlineCompletionsTests : IDisposable
{
    private readonly string? _before = Environment.GetEnvironmentVariable(InlineCompletions.Variable);

    [Theory]
    [InlineData(null, "1")]
    [InlineData("0", "0")]
    public void Enable_EnvironmentSays_IsKept(string? said, string expected)
    {
        Environment.SetEnvironmentVariable(InlineCompletions.Variable, said);
        InlineCompletions.Enable();
        Assert.Equal(expected, Environment.GetEnvironmentVariable(InlineCompletions.Variable));
    }

    public void Dispose() => Environment.SetEnvironmentVariable(InlineCompletions.Variable, _before);
}
