using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Pnh.Sandbox.Contract;
using Pnh.Sandbox.Hosting;
using Pnh.Sandbox.Phones;
using Pnh.Sandbox.Scripts;

namespace Pnh.Sandbox.WebPush;

/// <summary>
/// Chrome's push service, <c>POST /fcm/send/{name}:{mac}</c>, Windows', <c>POST /w/?token={name}:{mac}</c>, and Apple's, <c>POST /apple/{name}:{mac}</c>. The order of their checks is the order of the README.
/// </summary>
internal sealed class WebPushStandIn
{
    public const string Prefix = "/fcm/send/";
    public const string ApplePrefix = "/apple/";
    public const string WindowsPath = "/w/";
    private const int BodyBytesRead = 64 * 1024;

    private readonly TimeProvider _time;
    private readonly Browsers _browsers;
    private readonly byte[] _applicationServerKey;
    private readonly SandboxScripts _scripts;
    private readonly SandboxPhones _phones;
    private readonly SandboxViolations _violations;
    private readonly ApplePermissions _permissions = new();

    public WebPushStandIn(SandboxOptions options, Browsers browsers, byte[] applicationServerKey, SandboxScripts scripts, SandboxPhones phones,
        SandboxViolations violations)
    {
        _time = options.TimeProvider;
        _browsers = browsers;
        _applicationServerKey = applicationServerKey;
        _scripts = scripts;
        _phones = phones;
        _violations = violations;
    }

    public static bool Serves(string path) =>
        path == WindowsPath || path.StartsWith(Prefix, StringComparison.Ordinal) || path.StartsWith(ApplePrefix, StringComparison.Ordinal);

    public async Task HandleAsync(HttpContext context, ProviderConnection connection, Action leave)
    {
        (WebPushReply reply, Script? script) = await DecideAsync(context.Request);
        leave();
        Func<HttpContext, Task> write = IsWindows(context.Request) ? one => WindowsReply.WriteAsync(one, reply, script) : reply.WriteAsync;
        await ScriptPlayer.AnswerAsync(script, context, connection, script?.Reason ?? ScriptPlayer.GoogleGoAway, write);
    }

    private async Task<(WebPushReply Reply, Script? Script)> DecideAsync(HttpRequest request)
    {
        if (!HttpMethods.IsPost(request.Method))
        {
            return (WebPushReply.OnlyPost, null);
        }

        if (IdIn(request) is not { } id || _browsers.NameOf(id) is not { } name)
        {
            return (WebPushReply.NoSubscription, null);
        }

        if (IsApple(request) && _permissions.IsRevoked(name))
        {
            return (WebPushReply.Gone, null);
        }

        if (Authorize(request) is { } refusal)
        {
            return (refusal, null);
        }

        ReadOnlyMemory<byte> body = await request.ReadBodyAsync(BodyBytesRead);
        WebPushReply? wrong = MessageCheck.Check(request.Headers, body.Length)
            ?? (IsWindows(request) ? MessageCheck.CheckWindows(request.Headers) : IsApple(request) ? MessageCheck.CheckApple(request.Headers) : null);
        return wrong is null ? await SendAsync(request, name, body) : (wrong, null);
    }

    private static bool IsWindows(HttpRequest request) => request.Path.Value == WindowsPath;

    private static bool IsApple(HttpRequest request) => request.Path.Value!.StartsWith(ApplePrefix, StringComparison.Ordinal);

    private static string? IdIn(HttpRequest request) => IsWindows(request)
        ? request.Query is { Count: 1 } query && query["token"] is [{ } token] ? token : null
        : request.QueryString.HasValue ? null : request.Path.Value![(IsApple(request) ? ApplePrefix : Prefix).Length..];

    // RFC 8292 section 4.2: a subscription is bound to the key it was made with.
    private WebPushReply? Authorize(HttpRequest request)
    {
        if (request.Headers.Authorization is not [{ Length: > 0 } authorization])
        {
            return WebPushReply.NoCredential;
        }

        if (VapidToken.Read(authorization, _time.GetUtcNow(), out string error) is not { } token)
        {
            return WebPushReply.BadCredential(error);
        }

        string origin = $"https://{request.Host.Value}";
        return token.Audience != origin ? WebPushReply.BadCredential($"aud must be {origin}.")
            : IsApple(request) && !token.IsForApple ? WebPushReply.BadJwt
            : token.Key.AsSpan().SequenceEqual(_applicationServerKey) ? null
            : WebPushReply.OtherKey;
    }

    private async Task<(WebPushReply Reply, Script? Script)> SendAsync(HttpRequest request, string name, ReadOnlyMemory<byte> body)
    {
        byte[]? plain = _browsers.Get(name).Read(body.Span, out _);
        Script? script = await _scripts.TakeAsync(name, request.HttpContext.RequestAborted);
        if (plain is null)
        {
            // The push service cannot know: it has no key. The browser drops it.
            _violations.Add(ViolationKind.UnreadableMessages);
            if (IsApple(request))
            {
                ShowedNothing(name);
            }
        }
        else if (ScriptPlayer.Delivers(script))
        {
            Arrive(request.AsReceived(_time.GetUtcNow(), body), name, plain, IsApple(request));
        }

        return (WebPushReply.Of(script) ?? WebPushReply.Accepted(new Uri(_browsers.Origin, $"/m/{Guid.NewGuid():N}").AbsoluteUri), script);
    }

    private void ShowedNothing(string name)
    {
        _permissions.ShowedNothing(name);
        _violations.Add(ViolationKind.SilentPushes);
    }

    private void Arrive(ReceivedPush request, string name, byte[] plain, bool isApple)
    {
        JsonElement? payload = StrictJson.Parse(plain, out _) is { ValueKind: JsonValueKind.Object } json ? json : null;
        if (payload is null)
        {
            _violations.Add(ViolationKind.UselessPayloads);
        }

        ArrivedPush arrived = WebPushScreen.Read(name, payload, request);
        if (isApple && arrived.Shown is null)
        {
            ShowedNothing(name);
        }

        _phones.Arrive(arrived);
    }
}
