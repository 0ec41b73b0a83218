namespace Pnh.Sandbox.Tests;

/// <summary>One sandbox for the tests of a class; they use addresses of their own.</summary>
public sealed class SandboxFixture : IAsyncLifetime
{
    public SandboxUnderTest Sandbox { get; private set; } = null!;

    public async Task InitializeAsync() => Sandbox = await SandboxUnderTest.StartAsync();

    public async Task DisposeAsync() => await Sandbox.DisposeAsync();
}
