using Pnh.Api.Access;
using Pnh.Api.Operations;
using Pnh.Api.Tests.FrontDoor;
using Pnh.Core.Stores;
using Pnh.TestKit;

namespace Pnh.Api.Tests.Commands;

public sealed class KeysTests : IAsyncLifetime
{
    private static readonly (string Secret, PublisherKey Key) Configured = PublisherKey.Create("demo", Scope.Admin);
    private readonly string _folder = Directory.CreateTempSubdirectory("pnh-test-").FullName;
    private readonly PublisherKeys _keys = new([Configured.Key]);
    private readonly Store _store = new();
    private ApiHost _host = null!;

    public async Task InitializeAsync() => _host = await ApiHost.StartAsync(
        app => new KeysEndpoint(_keys, static name => name is "demo" or "shop", _store, new FakeTimeProvider()).Map(app), keys: _keys, operatorSecret: OperatorSecret.ReadOrCreate(_folder));

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
        Assert.Equal(KeyHash.Of(answer.Secret).ToBytes(), Assert.Single(_store.Keys).Hash.ToArray());
        Assert.DoesNotContain(answer.Secret!, answer.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Add_UnknownApp_SaysSo()
    {
        var answer = await AddAsync("nobody", Scope.Send);

        Assert.Matches(@"^the hub at http://127\.0\.0\.1:\d+/ refused \(400\): No such app is configured\.$", answer.Failure);
        Assert.Empty(_store.Keys);
    }

    [Fact]
    public async Task Add_StoreFails_GivesNoKey()
    {
        _store.IsFull = true;

        Assert.Matches(@"^the hub at http://127\.0\.0\.1:\d+/ refused \(503\)", (await AddAsync("demo", Scope.Send)).Failure);
        Assert.Empty(_store.Keys);
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

    [Fact]
    public async Task List_ConfiguredAndMadeKeys_AreThoseOfTheApp()
    {
        var secret = (await AddAsync("demo", Scope.Send | Scope.Read)).Secret!;
        await AddAsync("shop", Scope.Send);

        var keys = await ListAsync("demo");
        Assert.Equal([Configured.Key.Hash.ToHex()[..12], KeyHash.Of(secret).ToHex()[..12]], keys.Select(static key => key.Id));
        Assert.Equal(["admin", "send read"], keys.Select(static key => string.Join(' ', key.Scopes)));
        Assert.Equal([null, new FakeTimeProvider().GetUtcNow()], keys.Select(static key => key.MadeAt));
        var (_, failure) = await KeysClient.ListAsync(Hub, "nobody", CancellationToken.None);
        Assert.EndsWith("refused (400): No such app is configured.", failure, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Revoke_MadeKey_IsRefusedAtOnceAndForgotten()
    {
        var (kept, gone) = ((await AddAsync("demo", Scope.Send)).Secret!, (await AddAsync("demo", Scope.Send)).Secret!);
        var holder = _keys.Find(gone)!;

        Assert.Equal(KeyHash.Of(gone).ToId(), await RevokeAsync("demo", KeyHash.Of(gone).ToHex().ToUpperInvariant()));

        Assert.Null(_keys.Find(gone));
        Assert.NotNull(_keys.Find(kept));
        Assert.True(holder.IsRevoked);
        Assert.False(_keys.Find(kept)!.IsRevoked);
        Assert.Equal(KeyHash.Of(kept).ToBytes(), Assert.Single(_store.Keys).Hash.ToArray());
    }

    [Fact]
    public async Task Revoke_WhatCannotBe_SaysWhyAndRevokesNothing()
    {
        var secret = (await AddAsync("demo", Scope.Send)).Secret!;
        var id = KeyHash.Of(secret).ToId();
        var twin = KeyHash.Of(secret).ToBytes();
        twin[^1] ^= 1;
        _store.Keys.Add(new StoredKey("demo", twin, ["send"], DateTimeOffset.UnixEpoch));

        Assert.EndsWith($"refused (404): App shop has no key whose id begins with {id}.", await RevokeAsync("shop", id), StringComparison.Ordinal);
        Assert.EndsWith($"refused (400): 2 keys of app demo have ids that begin with {id}: give more digits.", await RevokeAsync("demo", id), StringComparison.Ordinal);
        Assert.Contains("refused (403): Key", await RevokeAsync("demo", Configured.Key.Hash.ToId()), StringComparison.Ordinal);
        Assert.Contains("4 to 64 hexadecimal digits", await RevokeAsync("demo", "123"), StringComparison.Ordinal);
        Assert.EndsWith("refused (400): No such app is configured.", await RevokeAsync("nobody", id), StringComparison.Ordinal);
        Assert.NotNull(_keys.Find(secret));
        Assert.NotNull(_keys.Find(Configured.Secret));
    }

    [Fact]
    public async Task Revoke_StoredKeyThatIsConfiguredToo_LeavesTheStoreAndSaysWhereItStands()
    {
        _store.Keys.Add(Configured.Key.ToStored(DateTimeOffset.UnixEpoch));

        Assert.Matches(@"refused \(403\): Key [0-9a-f]+ stands in the configuration", await RevokeAsync("demo", Configured.Key.Hash.ToHex()));

        Assert.Empty(_store.Keys);
        Assert.NotNull(_keys.Find(Configured.Secret));
    }

    [Fact]
    public async Task Revoke_StoreFails_KeepsTheKey()
    {
        var secret = (await AddAsync("demo", Scope.Send)).Secret!;
        _store.IsFull = true;

        Assert.Contains("refused (503)", await RevokeAsync("demo", KeyHash.Of(secret).ToId()), StringComparison.Ordinal);
        Assert.NotNull(_keys.Find(secret));
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
        Assert.Empty(_store.Keys);
    }

    private Task<KeyAnswer> AddAsync(string app, Scope scopes) =>
        KeysClient.AddAsync(new(new($"http://127.0.0.1:{_host.Operations}"), _folder), app, scopes, CancellationToken.None).WaitAsync(TimeSpan.FromSeconds(20));

    private OperationsClient Hub => new(new($"http://127.0.0.1:{_host.Operations}"), _folder);

    private async Task<string> RevokeAsync(string app, string id)
    {
        var (answer, failure) = await KeysClient.RevokeAsync(Hub, app, id, CancellationToken.None).WaitAsync(TimeSpan.FromSeconds(20));
        return failure ?? answer!.Id;
    }

    private async Task<KeyBody[]> ListAsync(string app)
    {
        var (answer, failure) = await KeysClient.ListAsync(Hub, app, CancellationToken.None).WaitAsync(TimeSpan.FromSeconds(20));
        Assert.Null(failure);
        return answer!.Keys;
    }

    /// <summary>A disk that may be full.</summary>
    private sealed class Store : IPublisherKeyStore
    {
        public List<StoredKey> Keys { get; } = [];

        public bool IsFull { get; set; }

        public ValueTask<IReadOnlyList<StoredKey>> LoadAsync(CancellationToken cancellationToken) => new([.. Keys]);

        public Task AddAsync(StoredKey key, CancellationToken cancellationToken) => WriteAsync(() => Keys.Add(key));

        public async Task<bool> RemoveAsync(ReadOnlyMemory<byte> hash, CancellationToken cancellationToken)
        {
            var removed = 0;
            await WriteAsync(() => removed = Keys.RemoveAll(key => key.Hash.Span.SequenceEqual(hash.Span)));
            return removed > 0;
        }

        private Task WriteAsync(Action write)
        {
            if (IsFull)
            {
                throw new StoreUnavailableException("full");
            }

            write();
            return Task.CompletedTask;
        }
    }
}
