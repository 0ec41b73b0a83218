using Pnh.Api.Access;
using Pnh.Api.Commands;
using Pnh.Api.Tests.FrontDoor;
using Pnh.Core.Devices;

namespace Pnh.Api.Tests.Commands;

public sealed class KeysTests : IAsyncLifetime
{
    private readonly string _folder = Directory.CreateTempSubdirectory("pnh-test-").FullName;
    private readonly PublisherKeys _keys = new([]);
    private readonly List<PublisherKey> _saved = [];
    private bool _isDiskFull;
    private ApiHost _host = null!;

    public async Task InitializeAsync() => _host = await ApiHost.StartAsync(
        app => app.MapKeys(_keys, static name => name == "demo", SaveAsync), keys: _keys, operatorSecret: OperatorSecret.ReadOrCreate(_folder));

    public async Task DisposeAsync()
    {
        await _host.DisposeAsync();
        Directory.Delete(_folder, recursive: true);
    }

    [Fact]
    public async Task Add_RunningHub_GivesAKeyThatWorksAtOnceAndStoresItsHash()
    {
        var answer = await AddAsync("demo", Scope.Send | Scope.Read);

        Assert.Null(answer.Failure);
        Assert.StartsWith("pnh_demo_", answer.Secret, StringComparison.Ordinal);
        Assert.Equal(("demo", Scope.Send | Scope.Read), (_keys.Find(answer.Secret)!.App, _keys.Find(answer.Secret)!.Scopes));
        Assert.Equal(KeyHash.Of(answer.Secret), Assert.Single(_saved).Hash);
        Assert.DoesNotContain(answer.Secret!, answer.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Add_UnknownApp_SaysSo()
    {
        var answer = await AddAsync("nobody", Scope.Send);

        Assert.Matches(@"^the hub at http://127\.0\.0\.1:\d+/ refused \(400\): No such app is configured\.$", answer.Failure);
        Assert.Empty(_saved);
    }

    [Fact]
    public async Task Add_StoreFails_GivesNoKey()
    {
        _isDiskFull = true;

        Assert.Matches(@"^the hub at http://127\.0\.0\.1:\d+/ refused \(503\)", (await AddAsync("demo", Scope.Send)).Failure);
        Assert.Empty(_saved);
    }

    [Fact]
    public async Task Add_OtherSecret_IsRefused()
    {
        await File.WriteAllTextAsync(Path.Combine(_folder, OperatorSecret.FileName), "pnh_another-secret");

        Assert.Matches(@"^the hub at http://127\.0\.0\.1:\d+/ refused \(401\)", (await AddAsync("demo", Scope.Send)).Failure);
    }

    [Fact]
    public async Task Add_NoHubOrNoFolder_SaysWhatToDo()
    {
        var noFolder = await KeysClient.AddAsync(new(new("http://localhost:1"), Path.Combine(_folder, "none")), "demo", Scope.Send, default);
        var noHub = await KeysClient.AddAsync(new(new("http://127.0.0.1:1"), _folder), "demo", Scope.Send, default);

        Assert.Contains("start the hub first", noFolder.Failure, StringComparison.Ordinal);
        Assert.Contains("no hub answers", noHub.Failure, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("{", "malformed-body")]
    [InlineData("null", "malformed-body")]
    [InlineData("""{"app":"demo","scopes":["send"],"more":1}""", "malformed-body")]
    [InlineData("""{"app":"demo","app":"demo","scopes":["send"]}""", "malformed-body")]
    [InlineData("""{"app":"demo"}""", "malformed-body")]
    [InlineData("""{"app":"demo","scopes":[]}""", "/scopes")]
    [InlineData("""{"app":"Demo","scopes":["fly"]}""", "/app")]
    public async Task Post_WrongBody_IsRefused(string body, string expected)
    {
        string[] headers = [$"Authorization: Bearer {OperatorSecret.Read(_folder)}", "Content-Type: application/json"];

        var answer = await Wire.SendAsync(_host.Operations, "POST", "/keys", headers, body);

        Assert.Equal(400, answer.Status);
        Assert.Contains(expected, answer.Body, StringComparison.Ordinal);
        Assert.Empty(_saved);
    }

    private Task<KeyAnswer> AddAsync(string app, Scope scopes) =>
        KeysClient.AddAsync(new(new($"http://127.0.0.1:{_host.Operations}"), _folder), app, scopes, CancellationToken.None).WaitAsync(TimeSpan.FromSeconds(20));

    private Task SaveAsync(PublisherKey key, CancellationToken cancellationToken)
    {
        if (_isDiskFull)
        {
            throw new StoreUnavailableException("full");
        }

        _saved.Add(key);
        return Task.CompletedTask;
    }
}
