using Microsoft.AspNetCore.Http;
using Pnh.Sandbox.Contract;
using Pnh.Sandbox.Hosting;
using Pnh.Sandbox.OAuth;
using Pnh.Sandbox.Phones;
using Pnh.Sandbox.Scripts;

namespace Pnh.Sandbox.Fcm;

/// <summary>FCM HTTP v1: <c>POST /v1/projects/{project}/messages:send</c>. The order of its checks is the order of the README.</summary>
internal sealed class FcmStandIn
{
    private const string Prefix = "/v1/projects/";
    private const string Suffix = "/messages:send";
    private const int BodyBytesRead = 64 * 1024;
    private static readonly TimeSpan DefaultRetryAfter = TimeSpan.FromSeconds(60);

    private readonly SandboxOptions _options;
    private readonly string _project;
    private readonly AccessTokens _tokens;
    private readonly SandboxScripts _scripts;
    private readonly SandboxPhones _phones;
    private readonly MinuteQuota _quota;

    public FcmStandIn(SandboxOptions options, string project, AccessTokens tokens, SandboxScripts scripts, SandboxPhones phones)
    {
        _options = options;
        _project = project;
        _tokens = tokens;
        _scripts = scripts;
        _phones = phones;
        _quota = new MinuteQuota(options.FcmMessagesPerMinute);
    }

    /// <summary>The project in the path; null when the path is not one of ours.</summary>
    public static string? ProjectOf(string path) =>
        path.StartsWith(Prefix, StringComparison.Ordinal) && path.EndsWith(Suffix, StringComparison.Ordinal)
            && path.Length > Prefix.Length + Suffix.Length && path.IndexOf('/', Prefix.Length) == path.Length - Suffix.Length
            ? path[Prefix.Length..^Suffix.Length]
            : null;

    public async Task HandleAsync(HttpContext context, string project, ProviderConnection connection, Action leave)
    {
        (FcmReply reply, Script? script) = await DecideAsync(context.Request, project);
        leave();
        await ScriptPlayer.AnswerAsync(script, context, connection, script?.Reason ?? ScriptPlayer.GoogleGoAway, reply.WriteAsync);
    }

    private async Task<(FcmReply Reply, Script? Script)> DecideAsync(HttpRequest request, string project)
    {
        if (_tokens.Check(request.Headers.Authorization.ToString()) is { } badToken)
        {
            return (FcmReply.Unauthenticated(badToken), null);
        }

        if (project != _project)
        {
            return (FcmReply.OtherProject(project), null);
        }

        // Messages that are wrong count too: only 429 does not.
        if (_quota.Take(_options.TimeProvider.GetUtcNow()) is { } wait)
        {
            return (FcmReply.OverQuota($"project:{project}", "Send Message requests per minute", wait), null);
        }

        ReadOnlyMemory<byte> body = await request.ReadBodyAsync(BodyBytesRead);
        if (StrictJson.Parse(body, out string broken) is not { } json)
        {
            return (FcmReply.Invalid([new("", $"Invalid JSON payload received. {broken}")], byFcm: false), null);
        }

        if (FcmSchemaCheck.Check(json) is { Count: > 0 } schema)
        {
            return (FcmReply.Invalid(schema, byFcm: false), null);
        }

        ReceivedFcmMessage message = new(json);
        List<FcmViolation> rules = message.HasMessage ? FcmRules.Check(message) : [new("message", "Message is required.")];
        return rules.Count > 0 ? (FcmReply.Invalid(rules, byFcm: true), null) : await SendAsync(request, message, body);
    }

    private async Task<(FcmReply Reply, Script? Script)> SendAsync(HttpRequest request, ReceivedFcmMessage message, ReadOnlyMemory<byte> body)
    {
        if (message.ValidateOnly)
        {
            return (FcmReply.Accepted(_project, "fake_message_id"), null);
        }

        string address = message.ToOnePhone ? message.Target : $"{message.Targets[0]}:{message.Target}";
        Script? script = await _scripts.TakeAsync(address, request.HttpContext.RequestAborted);
        DateTimeOffset now = _options.TimeProvider.GetUtcNow();
        if (ScriptPlayer.Delivers(script) && message.ToOnePhone)
        {
            ArrivedPush push = FcmScreen.Read(message, request.AsReceived(now, body));
            _phones.Arrive(push);
        }

        // As the real ones look: "0:" microseconds "%" and a hash.
        string id = $"0:{(now - DateTimeOffset.UnixEpoch).Ticks / 10}%{Guid.NewGuid():N}"[..40];
        return (Answer(script, message) ?? FcmReply.Accepted(_project, id), script);
    }

    private static FcmReply? Answer(Script? script, ReceivedFcmMessage message) => script?.Kind switch
    {
        ScriptKind.Unregistered => FcmReply.Of("UNREGISTERED"),
        ScriptKind.Bad => FcmReply.Invalid(
            [new($"message.{message.Targets[0]}", "The registration token is not a valid FCM registration token")], byFcm: true),
        ScriptKind.Throttled => FcmReply.OverQuota("device", "Messages per device per minute", script.RetryAfter ?? DefaultRetryAfter),
        ScriptKind.Unavailable => FcmReply.Of("UNAVAILABLE", retryAfter: script.RetryAfter),
        ScriptKind.Answer => FcmReply.Of(script.Reason ?? "INTERNAL", script.Status, script.RetryAfter),
        _ => null,
    };
}
