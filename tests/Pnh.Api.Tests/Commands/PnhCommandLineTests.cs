using Pnh.Api.Access;
using Pnh.Api.Commands;
using Pnh.Api.Configuration;

namespace Pnh.Api.Tests.Commands;

public sealed class PnhCommandLineTests : IDisposable
{
    private readonly StringWriter _out = new();
    private readonly StringWriter _error = new();
    private object? _ran;

    public void Dispose()
    {
        _out.Dispose();
        _error.Dispose();
    }

    [Theory]
    [InlineData("", "")]
    [InlineData("serve", "")]
    [InlineData("serve --role all", "")]
    [InlineData("--Pnh:Urls=http://localhost:1", "--Pnh:Urls=http://localhost:1")]
    [InlineData("serve --Pnh:Urls=http://localhost:1 --Pnh:Data /var/lib/pnh", "--Pnh:Urls=http://localhost:1|--Pnh:Data|/var/lib/pnh")]
    [InlineData("--Pnh:Apps:demo:Keys:0:Secret=@file=x --environment Production", "--Pnh:Apps:demo:Keys:0:Secret=@file=x|--environment|Production")]
    public async Task Serve_AnyForm_PassesConfigurationOn(string line, string configuration)
    {
        Assert.Equal(0, await RunAsync(Split(line)));

        var request = Assert.IsType<ServeRequest>(_ran);
        Assert.Equal(configuration, string.Join('|', request.Configuration));
        Assert.Equal("", _error.ToString());
    }

    [Theory]
    [InlineData("serve", Role.All)]
    [InlineData("serve --role all", Role.All)]
    [InlineData("serve --role hub", Role.Hub)]
    [InlineData("serve --role edge", Role.Edge)]
    public async Task Serve_Role_IsPassedOn(string line, object role)
    {
        Assert.Equal(0, await RunAsync(Split(line)));
        Assert.Equal(role, Assert.IsType<ServeRequest>(_ran).Role);
    }

    [Theory]
    [InlineData("serve --role boss", "boss")]
    [InlineData("sevre", "sevre")]
    [InlineData("serve --rol all", "--rol")]
    [InlineData("--Pnh:Data", "lacks its value")]
    [InlineData("token --app demo", "--user")]
    [InlineData("token --app Demo --user ada", "--app")]
    [InlineData("token --app demo --user ..", "--user")]
    [InlineData("token --app demo --user ada --ttl 0s", "--ttl")]
    [InlineData("token --app demo --user ada --ttl soon", "--ttl")]
    [InlineData("key add --app demo", "--scope")]
    [InlineData("key add --app demo --scope send,fly", "fly")]
    [InlineData("key list", "--app")]
    [InlineData("key revoke --app demo", "--id")]
    [InlineData("key revoke --app demo --id 12g4", "--id")]
    [InlineData("key revoke --app demo --id 123", "--id")]
    [InlineData("key", "")]
    [InlineData("bench", "profile")]
    [InlineData("send --title Hello", "--user or --topic")]
    [InlineData("send --user ada --topic room", "--user or --topic")]
    [InlineData("send --user ada --class urgent", "urgent")]
    [InlineData("send --user ada --hub push.example.com", "--hub")]
    [InlineData("event", "id")]
    public async Task Run_WrongUse_Exits2WithALineAndRunsNothing(string line, string expected)
    {
        Assert.Equal(2, await RunAsync(Split(line)));

        Assert.Null(_ran);
        Assert.Contains(expected, _error.ToString(), StringComparison.Ordinal);
        Assert.StartsWith("pnh: ", _error.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Token_AllOptions_AreRead()
    {
        Assert.Equal(0, await RunAsync("token", "--app", "demo", "--user", "@ada", "--device", "phone 1", "--ttl", "90m", "--Pnh:Data=x"));

        var request = Assert.IsType<TokenRequest>(_ran);
        Assert.Equal(("demo", "@ada", "phone 1", TimeSpan.FromMinutes(90)), (request.App, request.User, request.Device, request.Lifetime));
        Assert.Equal(["--Pnh:Data=x"], request.Configuration);
    }

    [Theory]
    [InlineData("room-7 live-*", "--topics", "room-7", "live-*")]
    [InlineData("room-7 live-*", "--topics", "room-7,live-*")]
    [InlineData("room-7 live-*", "--topics", "room-7", "--topics", "live-*")]
    [InlineData("")]
    public async Task Token_Topics_AreRead(string expected, params string[] topics)
    {
        Assert.Equal(0, await RunAsync(["token", "--app", "demo", "--user", "ada", .. topics, "--ttl", "1h"]));

        Assert.Equal(expected, string.Join(' ', Assert.IsType<TokenRequest>(_ran).Topics));
    }

    [Fact]
    public async Task Token_TopicThatIsNone_IsAUsageError() =>
        Assert.NotEqual(0, await RunAsync("token", "--app", "demo", "--user", "ada", "--topics", ".."));

    [Fact]
    public async Task Token_NoTtl_IsOneHour()
    {
        await RunAsync("token", "--app", "demo", "--user", "ada");

        Assert.Equal((TimeSpan.FromHours(1), null), (((TokenRequest)_ran!).Lifetime, ((TokenRequest)_ran).Device));
    }

    [Fact]
    public async Task KeyAdd_ScopesWithCommas_AreRead()
    {
        Assert.Equal(0, await RunAsync("key", "add", "--app", "demo", "--scope", "send,read"));

        Assert.Equal(("demo", Scope.Send | Scope.Read), (((AddKeyRequest)_ran!).App, ((AddKeyRequest)_ran).Scopes));
    }

    [Fact]
    public async Task KeyListAndRevoke_AppAndId_AreRead()
    {
        Assert.Equal(0, await RunAsync("key", "list", "--app", "demo", "--Pnh:Data=x"));
        var list = Assert.IsType<ListKeysRequest>(_ran);
        Assert.Equal(0, await RunAsync("key", "revoke", "--app", "demo", "--id", "3f2a9c01b7de", "--Pnh:Data=x"));
        var revoke = Assert.IsType<RevokeKeyRequest>(_ran);

        Assert.Equal(("demo", "demo", "3f2a9c01b7de"), (list.App, revoke.App, revoke.Id));
        Assert.Equal(["--Pnh:Data=x", "--Pnh:Data=x"], [.. list.Configuration, .. revoke.Configuration]);
    }

    [Fact]
    public async Task Addresses_ListReleaseAndDrop_Parsed()
    {
        Assert.Equal(0, await RunAsync("addresses", "--Pnh:Data=x"));
        var list = Assert.IsType<AddressesRequest>(_ran);
        Assert.Equal(0, await RunAsync("addresses", "release", "--account", "apns/demo/0", "--Pnh:Data=x"));
        var release = Assert.IsType<AddressesRequest>(_ran);
        Assert.Equal(0, await RunAsync("addresses", "drop", "--account", "fcm/demo/1"));
        var drop = Assert.IsType<AddressesRequest>(_ran);
        Assert.NotEqual(0, await RunAsync("addresses", "drop"));

        Assert.Equal((null, null, true, "apns/demo/0", false, "fcm/demo/1"), (list.Releases, list.Account, release.Releases, release.Account, drop.Releases, drop.Account));
        Assert.Equal(["--Pnh:Data=x", "--Pnh:Data=x"], [.. list.Configuration, .. release.Configuration]);
    }

    [Theory]
    [InlineData("bench broadcast", "broadcast", "")]
    [InlineData("bench one --sessions 100 --json --rate 5", "one|--sessions|100|--json|--rate|5", "")]
    [InlineData("bench idle --Pnh:Data=/var/lib/pnh --linger 3", "idle|--linger|3", "--Pnh:Data=/var/lib/pnh")]
    public async Task Bench_OptionsAndConfiguration_AreParted(string line, string arguments, string configuration)
    {
        Assert.Equal(5, await RunAsync(Split(line)));

        var request = Assert.IsType<BenchRequest>(_ran);
        Assert.Equal((arguments, configuration), (string.Join('|', request.Arguments), string.Join('|', request.Configuration)));
    }

    [Fact]
    public async Task Sandbox_RunsAloneAndGivesItsExitCode()
    {
        Assert.Equal(7, await RunAsync("sandbox", "--Pnh:SandboxPorts:Apns=1"));

        Assert.Equal(["--Pnh:SandboxPorts:Apns=1"], Assert.IsType<string[]>(_ran));
    }

    [Fact]
    public async Task Console_PassesConfigurationOnAndGivesItsExitCode()
    {
        Assert.Equal(6, await RunAsync("console", "--Pnh:Data=/var/lib/pnh"));

        Assert.Equal(["--Pnh:Data=/var/lib/pnh"], Assert.IsType<string[]>(_ran));
    }

    [Theory]
    [InlineData("cluster --Pnh:Data=/var/lib/pnh", false)]
    [InlineData("cluster --json --Pnh:Data=/var/lib/pnh", true)]
    public async Task Cluster_JsonOrNot_IsRead(string line, bool isJson)
    {
        Assert.Equal(0, await RunAsync(Split(line)));

        var request = Assert.IsType<ClusterRequest>(_ran);
        Assert.Equal((isJson, "--Pnh:Data=/var/lib/pnh"), (request.IsJson, Assert.Single(request.Configuration)));
    }

    [Fact]
    public async Task Tee_AppAndConfiguration_AreRead()
    {
        Assert.Equal(0, await RunAsync(Split("tee --app demo --Pnh:Hubs=https://hub:9091")));

        var request = Assert.IsType<TeeRequest>(_ran);
        Assert.Equal(("demo", "--Pnh:Hubs=https://hub:9091"), (request.App, Assert.Single(request.Configuration)));
    }

    [Fact]
    public async Task Version_IsThePrograms()
    {
        Assert.Equal(0, await RunAsync("--version"));

        Assert.Matches(@"^\d+\.\d+\.\d+\S*$", _out.ToString().Trim());
        Assert.Equal(ProgramVersion.Text, _out.ToString().Trim());
        Assert.Null(_ran);
    }

    [Fact]
    public async Task Help_NamesEveryCommand()
    {
        Assert.Equal(0, await RunAsync("--help"));

        Assert.All(["serve", "sandbox", "token", "key", "console", "bench", "user", "doctor", "backup", "restore"], name => Assert.Contains(name, _out.ToString(), StringComparison.Ordinal));
    }

    [Fact]
    public async Task Serve_Cancelled_HasAllTheTimeItNeedsToDrain()
    {
        using var stop = new CancellationTokenSource();
        var drained = false;
        var actions = Actions() with
        {
            ServeAsync = async (_, token) =>
            {
                await Task.Delay(Timeout.Infinite, token).ContinueWith(static _ => { }, TaskScheduler.Default);
                await Task.Delay(TimeSpan.FromSeconds(3), CancellationToken.None);
                drained = true;
                return 0;
            },
        };
        stop.CancelAfter(50);

        Assert.Equal(0, await PnhCommandLine.RunAsync(["serve"], actions, new(_out, _error), stop.Token).WaitAsync(TimeSpan.FromSeconds(20)));
        Assert.True(drained);
    }

    private Task<int> RunAsync(params string[] args) => PnhCommandLine.RunAsync(args, Actions(), new(_out, _error)).WaitAsync(TimeSpan.FromSeconds(20));

    private CommandActions Actions() => new(
        (request, _) => Ran(request, 0), (configuration, _) => Ran(configuration, 7), (request, _) => Ran(request, 0), (request, _, _) => Ran(request, 0),
        (request, _, _) => Ran(request, 0), (request, _, _) => Ran(request, 0), (request, _, _) => Ran(request, 0), (configuration, _, _) => Ran(configuration, 6), (request, _, _) => Ran(request, 0),
        (request, _, _) => Ran(request, 0), (request, _) => Ran(request, 0), (configuration, _) => Ran(configuration, 0), (request, _, _) => Ran(request, 0), (request, _, _) => Ran(request, 0), (request, _, _) => Ran(request, 0),
        (request, _, _) => Ran(request, 0), (request, _, _) => Ran(request, 0), (request, _, _) => Ran(request, 0), (request, _, _) => Ran(request, 0), (request, _) => Ran(request, 5));

    private Task<int> Ran(object request, int exitCode)
    {
        _ran = request;
        return Task.FromResult(exitCode);
    }

    private static string[] Split(string line) => line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
}
