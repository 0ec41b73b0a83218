using Pnh.LoadTest;

namespace Pnh.Api.Tests.Bench;

public sealed class BenchExitCodeTests : IDisposable
{
    private readonly StringWriter _error = new();

    public void Dispose() => _error.Dispose();

    [Fact]
    public async Task Run_EverythingTakenAndDelivered_ExitsWith0() => Assert.Equal((0, ""), (await RunAsync(static _ => new(202, 1)), _error.ToString()));

    [Theory]
    [InlineData(500, "neither taken nor refused, last status 500")]
    [InlineData(401, "neither taken nor refused, last status 401")]
    [InlineData(429, "nothing was taken")]
    [InlineData(503, "nothing was taken")]
    public async Task Run_NothingTaken_ExitsWith1(int status, string expected)
    {
        Assert.Equal(1, await RunAsync(_ => new(status, 0)));

        Assert.Contains(expected, _error.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Run_OneBroken_ExitsWith1()
    {
        Assert.Equal(1, await RunAsync(static n => n == 3 ? new(500, 0) : new(202, 1)));

        Assert.Contains("1 events were neither taken nor refused", _error.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Run_SomeRefusedAndNotDelivered_ExitsWith0() => Assert.Equal(0, await RunAsync(static n => n % 2 == 0 ? new(429, 0) : new(202, 1)));

    [Fact]
    public async Task Run_OneRefusedArrivesAllTheSame_ExitsWith1()
    {
        Assert.Equal(1, await RunAsync(static n => n == 3 ? new(503, 1) : new(202, 1)));

        Assert.Contains("1 unwanted", _error.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Run_OneTakenArrivesTwice_ExitsWith1()
    {
        Assert.Equal(1, await RunAsync(static n => new(202, n == 3 ? 2 : 1)));

        Assert.Contains("1 duplicate", _error.ToString(), StringComparison.Ordinal);
    }

    private async Task<int> RunAsync(Func<int, StubServer.Reaction> react)
    {
        await using var server = new StubServer(react);
        string[] args = ["one", "--peer", "c", "--port", server.Port, "--sessions", "2", "--publishers", "2", "--warm", "0", "--seconds", "0.2"];
        return await Task.Run(() => LoadTester.RunAsync(args, new Dictionary<string, string>(), TextWriter.Null, _error));
    }
}
