using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Pnh.Sandbox.Contract;
using Pnh.Sandbox.Credentials;
using Pnh.Sandbox.Hosting;
using Pnh.Sandbox.Phones;
using Pnh.Sandbox.Scripts;

namespace Pnh.Sandbox.Apns;

/// <summary>Apple's push service: <c>POST /3/device/{token}</c>. The order of its checks is the order of the README.</summary>
internal sealed class ApnsStandIn
{
    private const string DevicePath = "/3/device/";

    // RFC 9113 section 7.
    private const int RefusedStream = 7;

    // More than the largest limit (5,120), so that "too large" is still ours to answer.
    private const int BodyBytesRead = 16 * 1024;

    private readonly SandboxOptions _options;
    private readonly ProviderTokenCheck _tokens;
    private readonly SandboxScripts _scripts;
    private readonly SandboxPhones _phones;
    private readonly SandboxViolations _violations;

    public ApnsStandIn(SandboxOptions options, SandboxCredentials credentials, SandboxScripts scripts, SandboxPhones phones,
        SandboxViolations violations)
    {
        _options = options;
        _tokens = new ProviderTokenCheck(credentials, options, violations);
        _scripts = scripts;
        _phones = phones;
        _violations = violations;
    }

    public async Task HandleAsync(HttpContext context)
    {
        ApnsConnection connection = context.Features.GetRequiredFeature<ApnsConnection>();
        ProviderToken? token = null;
        bool granted = connection.TryEnter();
        if (!granted)
        {
            _violations.Add(connection.Authenticated ? ViolationKind.ExcessStreams : ViolationKind.RequestsBeforeAuthentication);
        }

        ApnsReply reply;
        Script? script;
        try
        {
            if (!granted && _options.RefuseExcessStreams)
            {
                context.Features.GetRequiredFeature<IHttpResetFeature>().Reset(RefusedStream);
                return;
            }

            (reply, script) = Check(context.Request, connection, out token, out string deviceToken) is { } reason
                ? (ApnsReply.Refused(reason), null)
                : await DecideAsync(context.Request, token!, deviceToken);
        }
        finally
        {
            connection.Leave();
        }

        if (token is not null)
        {
            connection.Authenticated = true;
            connection.Grant(_options.StreamsAfterAuthentication);
        }

        await AnswerAsync(context, connection, reply, script);
    }

    /// <summary>Checks 1 to 6: what the request is and who sends it. The token is set only when it is good.</summary>
    private string? Check(HttpRequest request, ApnsConnection connection, out ProviderToken? token, out string deviceToken)
    {
        token = null;
        deviceToken = "";
        string path = request.Path.Value ?? "";
        if (!HttpMethods.IsPost(request.Method))
        {
            return ApnsReason.MethodNotAllowed;
        }

        if (!path.StartsWith(DevicePath, StringComparison.Ordinal) || path.IndexOf('/', DevicePath.Length) >= 0 || request.QueryString.HasValue)
        {
            return ApnsReason.BadPath;
        }

        string? reason = ApnsHeaders.CheckDuplicates(request.Headers) ?? ApnsHeaders.CheckId(request.Headers);
        deviceToken = path[DevicePath.Length..];
        reason ??= deviceToken.Length == 0 ? ApnsReason.MissingDeviceToken : null;
        if (reason is null)
        {
            reason = _tokens.Check(request.Headers, connection, out token);
            token = reason is null ? token : null;
        }

        return reason;
    }

    /// <summary>Checks 7 to 13, then the script, then the phone.</summary>
    private async Task<(ApnsReply Reply, Script? Script)> DecideAsync(HttpRequest request, ProviderToken token, string deviceToken)
    {
        ReadOnlyMemory<byte> body = await request.ReadBodyAsync(BodyBytesRead);
        JsonElement payload = default;
        string? reason = ApnsHeaders.CheckPush(request.Headers, _options.Topics, deviceToken, out ReceivedApnsPush? push)
            ?? (token.Key.Topics is { } topics && !topics.Contains(push!.BundleId) ? ApnsReason.TopicDisallowed : null)
            ?? ReceivedApnsPayload.Check(body, push!.Type, _violations, out payload)
            ?? (IsHex(deviceToken) ? null : ApnsReason.BadDeviceToken);
        if (reason is not null)
        {
            return (ApnsReply.Refused(reason), null);
        }

        Script? script = await _scripts.TakeAsync(push!.DeviceToken, request.HttpContext.RequestAborted);
        if (ScriptPlayer.Delivers(script))
        {
            _phones.Arrive(ApnsScreen.Read(push, payload, request.AsReceived(_options.TimeProvider.GetUtcNow(), body)));
        }

        return (script is null ? ApnsReply.Accepted : ApnsReply.Of(script), script);
    }

    private Task AnswerAsync(HttpContext context, ApnsConnection connection, ApnsReply reply, Script? script)
    {
        if (reply.Reason == ApnsReason.BadDeviceToken && !ScriptPlayer.TakesOver(script))
        {
            _violations.Add(ViolationKind.BadDeviceTokens);
            if (connection.CountBadDeviceToken() == _options.BadDeviceTokensBeforeGoAway)
            {
                connection.GoAway(context.Features, errorCode: 0, $"{{\"reason\":\"{ApnsReason.BadDeviceToken}\"}}");
            }
        }

        return ScriptPlayer.AnswerAsync(script, context, connection, $"{{\"reason\":\"{script?.Reason ?? "Shutdown"}\"}}",
            answered => reply.WriteAsync(answered, _options.ApnsEnvironment));
    }

    // Whole bytes; no other length is promised by Apple.
    private static bool IsHex(string token) => token.Length % 2 == 0 && token.All(char.IsAsciiHexDigit);
}
