using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Api.Access;
using Pnh.Api.Routing;
using Pnh.Api.Tests.FrontDoor;

namespace Pnh.Api.Tests.Access;

public sealed class AccessGateTests : IAsyncLifetime
{
    private const string OperatorSecret = "pnh_the-secret-of-the-data-folder";
    private readonly ClientTokens _tokens = new([new AppOptions("demo", [], new() { Hs256Secrets = [TokenFactory.Secret] })], TimeProvider.System);
    private readonly (string Secret, PublisherKey Key) _send = PublisherKey.Create("demo", Scope.Send);
    private readonly (string Secret, PublisherKey Key) _admin = PublisherKey.Create("other", Scope.Admin);
    private ApiHost _host = null!;

    public async Task InitializeAsync() => _host = await ApiHost.StartAsync(
        static app =>
        {
            app.MapPost("/v1/events", Describe).RequireScope(Scope.Send);
            app.MapGet("/v1/feed", Describe).RequireScope(Scope.Read);
            app.MapGet("/v1/users/{user}", Describe).RequireScopeOrOwner(Scope.Read);
            app.MapPut("/v1/users/{user}/settings", Describe).RequireScopeOrOwner(Scope.Register);
            app.MapPut("/v1/users/{user}/devices/{device}", Describe).RequireScopeOrOwner(Scope.Register);
            app.MapGet("/v1/inbox", Describe).RequireClient();
            app.MapGet("/v1/socket", static () => "open").AllowAnyone();
            app.MapPost("/keys", Describe).OnOperations().RequireOperator();
        },
        keys: new PublisherKeys([_send.Key, _admin.Key]), tokens: _tokens, operatorSecret: OperatorSecret);

    public Task DisposeAsync() => _host.DisposeAsync().AsTask();

    [Theory]
    [InlineData("POST", "/v1/events", "send", 200)]
    [InlineData("POST", "/v1/events", "admin", 200)]
    [InlineData("POST", "/v1/events", "client", 403)]
    [InlineData("GET", "/v1/feed", "send", 403)]
    [InlineData("GET", "/v1/feed", "admin", 200)]
    [InlineData("GET", "/v1/users/ada", "client", 200)]
    [InlineData("GET", "/v1/users/%61da", "client", 200)]
    [InlineData("GET", "/v1/users/Ada", "client", 403)]
    [InlineData("GET", "/v1/users/eve", "client", 403)]
    [InlineData("GET", "/v1/users/ada%2F", "client", 403)]
    [InlineData("GET", "/v1/users/%ff", "client", 403)]
    [InlineData("GET", "/v1/users/ada", "send", 403)]
    [InlineData("GET", "/v1/users/ada", "admin", 200)]
    [InlineData("PUT", "/v1/users/ada/settings", "client", 200)]
    [InlineData("PUT", "/v1/users/ada/settings", "bound", 403)]
    [InlineData("GET", "/v1/users/ada", "bound", 200)]
    [InlineData("PUT", "/v1/users/ada/devices/phone-1", "client", 200)]
    [InlineData("PUT", "/v1/users/ada/devices/phone-1", "bound", 200)]
    [InlineData("PUT", "/v1/users/ada/devices/phone-2", "bound", 403)]
    [InlineData("PUT", "/v1/users/eve/devices/phone-1", "bound", 403)]
    [InlineData("GET", "/v1/inbox", "client", 200)]
    [InlineData("GET", "/v1/inbox", "admin", 403)]
    [InlineData("GET", "/v1/inbox", "operator", 401)]
    [InlineData("GET", "/v1/socket", "none", 200)]
    [InlineData("POST", "/v1/events", "none", 401)]
    [InlineData("POST", "/v1/events", "expired", 401)]
    [InlineData("POST", "/v1/events", "wrong", 401)]
    [InlineData("POST", "/v1/events", "basic", 401)]
    public async Task Request_WithCredential_IsJudged(string method, string target, string credential, int status)
    {
        var answer = await Wire.SendAsync(_host.Public, method, target, Headers(credential));

        Assert.Equal(status, answer.Status);
        Assert.Equal(status == 401, answer.Header("WWW-Authenticate")?.StartsWith("Bearer", StringComparison.Ordinal) == true && status != 403);
    }

    [Theory]
    [InlineData("operator", 200)]
    [InlineData("admin", 401)]
    [InlineData("client", 401)]
    [InlineData("none", 401)]
    public async Task Request_ToTheOperators_TakesOnlyTheOperatorsSecret(string credential, int status) =>
        Assert.Equal(status, (await Wire.SendAsync(_host.Operations, "POST", "/keys", Headers(credential))).Status);

    [Fact]
    public async Task Caller_IsWhoTheCredentialSays()
    {
        var publisher = await Wire.SendAsync(_host.Public, "POST", "/v1/events", [$"authorization: bearer {_send.Secret}"]);
        var client = await Wire.SendAsync(_host.Public, "PUT", "/v1/users/ada/devices/phone-1", Headers("bound"));

        Assert.Contains("demo/send/", publisher.Body, StringComparison.Ordinal);
        Assert.Contains("demo//ada", client.Body, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Refusals_NameTheReasonAndNeverTheCredential()
    {
        var expired = await Wire.SendAsync(_host.Public, "POST", "/v1/events", Headers("expired"));
        var scope = await Wire.SendAsync(_host.Public, "GET", "/v1/feed", Headers("send"));

        Assert.Equal("Bearer error=\"invalid_token\", error_description=\"expired\"", expired.Header("WWW-Authenticate"));
        Assert.Contains("\"code\":\"unauthorized\",\"help\":\"/docs/errors#unauthorized\",\"detail\":\"The client token is not valid: expired.\"", expired.Body, StringComparison.Ordinal);
        Assert.Equal("Bearer error=\"insufficient_scope\", scope=\"read\"", scope.Header("WWW-Authenticate"));
        Assert.Contains("\"code\":\"forbidden\"", scope.Body, StringComparison.Ordinal);
        Assert.DoesNotContain("eyJ", expired.Head + expired.Body, StringComparison.Ordinal);
        Assert.DoesNotContain(_send.Secret, scope.Head + scope.Body, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Request_TwoAuthorizationHeaders_IsRefused() =>
        Assert.Equal(401, (await Wire.SendAsync(_host.Public, "POST", "/v1/events", [.. Headers("send"), .. Headers("admin")])).Status);

    [Theory]
    [InlineData(true, 404)]
    [InlineData(false, 200)]
    public async Task Request_RoutedToAnEndpointOfTheOtherListener_IsNotFoundWhateverItsRule(bool isOperators, int status)
    {
        // As if the front door had let it by, which reads the target itself.
        var gate = new AccessGate(_ => Task.CompletedTask, new PublisherKeys([]), _tokens, null, NullLogger<AccessGate>.Instance);
        var rule = new AccessRule(AccessKind.Anyone, Scope.None);
        object[] metadata = isOperators ? [rule, new EndpointPlace(OnPublic: false, OnOperations: true, IsLight: false)] : [rule];
        var context = new DefaultHttpContext();
        context.SetEndpoint(new Endpoint(null, new EndpointMetadataCollection(metadata), null));

        await gate.InvokeAsync(context);

        Assert.Equal(status, context.Response.StatusCode);
    }

    private static string Describe(HttpContext context)
    {
        var caller = Caller.Of(context);
        return $"{caller.App}/{caller.Scopes.Text()}/{caller.Client?.User}";
    }

    private string[] Headers(string credential) => credential switch
    {
        "none" => [],
        "basic" => ["Authorization: Basic YTpi"],
        _ => [$"Authorization: Bearer {Secret(credential)}"],
    };

    private string Secret(string credential) => credential switch
    {
        "send" => _send.Secret,
        "admin" => _admin.Secret,
        "client" => _tokens.Create("demo", "ada", null, TimeSpan.FromHours(1)),
        "bound" => _tokens.Create("demo", "ada", "phone-1", TimeSpan.FromHours(1)),
        "expired" => TokenFactory.Hs256("""{"aud":"demo","sub":"ada","exp":1700000000}"""),
        "operator" => OperatorSecret,
        _ => "pnh_demo_nobody-has-this-key",
    };
}
