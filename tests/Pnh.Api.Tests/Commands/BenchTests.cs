using Pnh.Api.Commands;
using Pnh.Api.Hosting;
using Pnh.Api.Tests.EndToEnd;
using Pnh.LoadTest;
using Pnh.LoadTest.Profiles;

namespace Pnh.Api.Tests.Commands;

public sealed class BenchTests : IDisposable
{
    private readonly StringWriter _out = new();
    private readonly StringWriter _error = new();

    public void Dispose()
    {
        _out.Dispose();
        _error.Dispose();
    }

    [Fact]
    public async Task Bench_DemoHubRuns_NeedsNoOptionOfAccess()
    {
        await using var hub = await TestHub.StartAsync();

        // Ports are the test's own; a stranger's are the default ones.
        var code = await RunAsync(
            "bench", "one", $"--Pnh:Data={hub.Folder}", $"--Pnh:Urls=http://127.0.0.1:{hub.Host.PublicAddress.Port}",
            $"--Pnh:OperationsUrls=http://127.0.0.1:{hub.Host.OperationsAddress.Port}", "--sessions", "4", "--publishers", "2", "--seconds", "0.2", "--warm", "0.1");

        Assert.Equal((0, ""), (code, _error.ToString()));
        Assert.Contains("0 lost, 0 duplicate, 0 reordered, 0 misrouted", _out.ToString(), StringComparison.Ordinal);
        Assert.Matches(@"events +[1-9]\d* accepted", _out.ToString());
        Assert.DoesNotContain("NaN", _out.ToString(), StringComparison.Ordinal); // the hub's process was found, so its CPU is known
    }

    [Fact]
    public async Task Bench_OtherApp_SaysWhichKeyAndHowToGetIt()
    {
        Assert.Equal(1, await RunAsync("bench", "one", "--app", "shop", "--Pnh:Apps:shop:Tokens:Hs256Secret=0123456789abcdef0123456789abcdef"));

        Assert.Contains("pnh key add --app shop --scope send,register,read,admin", _error.ToString(), StringComparison.Ordinal);
        Assert.Single(_error.ToString().TrimEnd().Split('\n'));
    }

    [Theory]
    [InlineData("fly", "no such profile: 'fly'")]
    [InlineData("one --wings 2", "unknown: --wings")]
    [InlineData("one --sessions many", "--sessions wants a number")]
    [InlineData("fan-out --port 1", "--phones-port is missing")]
    [InlineData("one --port 1", "sessions do not open at 127.0.0.1:1")]
    public async Task Bench_CannotRun_Exits2WithALine(string line, string expected)
    {
        var code = await RunAsync(["bench", .. line.Split(' '), "--key", "pnh_k", "--secret", "s"]);

        Assert.Equal(2, code);
        Assert.Contains(expected, _error.ToString(), StringComparison.Ordinal);
        Assert.Single(_error.ToString().TrimEnd().Split('\n'));
    }

    [Fact]
    public void Profiles_Constant_NamesEachOfTheCatalogue() =>
        Assert.Equal(LoadTester.Profiles.Split(' ').Order(StringComparer.Ordinal), Catalogue.Profiles.Keys.Concat(["overload", "selfcheck"]).Order(StringComparer.Ordinal));

    private Task<int> RunAsync(params string[] args)
    {
        var output = new CommandOutput(_out, _error);
        return PnhCommandLine.RunAsync(args, HubCommands.Create(output), output).WaitAsync(TimeSpan.FromSeconds(60));
    }
}
