using System.Buffers;
using System.Text.Encodings.Web;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Pnh.Sandbox.Contract;
using Pnh.Sandbox.Hosting;
using Pnh.Sandbox.Phones;
using Pnh.Sandbox.Scripts;
using Pnh.Sandbox.WebPush;

namespace Pnh.Sandbox.Control;

/// <summary>
/// The sandbox's own addresses under <c>/sandbox/</c> on the FCM port: scripts, names, phones, browsers, violations. No credential and
/// no header of a push leaves here.
/// </summary>
internal sealed class ControlEndpoints
{
    public const string Prefix = "/sandbox/";
    private const string ScriptsPath = "/sandbox/scripts";
    private const string PhonesPath = "/sandbox/phones";
    private const string BrowsersPath = "/sandbox/browsers";
    private const string ViolationsPath = "/sandbox/violations";
    private const int BodyBytesRead = 16 * 1024;

    private static readonly JsonWriterOptions Writing = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    private readonly SandboxScripts _scripts;
    private readonly SandboxPhones _phones;
    private readonly SandboxViolations _violations;
    private readonly Browsers _browsers;

    public ControlEndpoints(SandboxScripts scripts, SandboxPhones phones, SandboxViolations violations, Browsers browsers)
    {
        _scripts = scripts;
        _phones = phones;
        _violations = violations;
        _browsers = browsers;
    }

    public Task HandleAsync(HttpContext context)
    {
        string path = context.Request.Path.Value!;
        string? script = AddressIn(path, ScriptsPath);
        string? phone = AddressIn(path, PhonesPath);
        string? browser = AddressIn(path, BrowsersPath);
        return (context.Request.Method, path) switch
        {
            ("GET", ScriptsPath) => WriteAsync(context, WriteScripts),
            ("PUT", _) when script is not null => SetScriptAsync(context, script),
            ("DELETE", _) when script is not null => StatusAsync(context, _scripts.Remove(script) ? 204 : 404),
            ("GET", PhonesPath) => WriteAsync(context, WritePhones),
            ("PUT", _) when phone is not null => NameAsync(context, phone),
            ("GET", _) when browser is not null => SubscribeAsync(context, browser),
            ("GET", ViolationsPath) => WriteAsync(context, WriteViolations),
            _ => StatusAsync(context, (script ?? phone ?? browser) is null && path is not (ScriptsPath or PhonesPath or ViolationsPath) ? 404 : 405),
        };
    }

    private static string? AddressIn(string path, string parent) =>
        path.StartsWith(parent, StringComparison.Ordinal) && path.Length > parent.Length + 1 && path[parent.Length] == '/'
            ? path[(parent.Length + 1)..]
            : null;

    private async Task SetScriptAsync(HttpContext context, string address)
    {
        ReadOnlyMemory<byte> body = await context.Request.ReadBodyAsync(BodyBytesRead);
        if (ScriptJson.Parse(body, out Script? script) is { } error)
        {
            context.Response.StatusCode = StatusCodes.Status400BadRequest;
            await context.Response.WriteAsync(error + "\n", context.RequestAborted);
            return;
        }

        _scripts.Set(address, script!);
        context.Response.StatusCode = StatusCodes.Status204NoContent;
    }

    private async Task NameAsync(HttpContext context, string address)
    {
        ReadOnlyMemory<byte> body = await context.Request.ReadBodyAsync(BodyBytesRead);
        if (NameIn(body) is { } name)
        {
            _phones.Name(address, name);
            context.Response.StatusCode = StatusCodes.Status204NoContent;
            return;
        }

        context.Response.StatusCode = StatusCodes.Status400BadRequest;
        await context.Response.WriteAsync("the body must be {\"name\":\"…\"}\n", context.RequestAborted);
    }

    private Task SubscribeAsync(HttpContext context, string name)
    {
        if (Browsers.IsName(name))
        {
            context.Response.ContentType = "application/json";
            BrowserSubscription subscription = context.Request.Query["service"].ToString() switch
            {
                "wns" => _browsers.SubscribeToWindows(name),
                "apple" => _browsers.SubscribeToApple(name),
                "" when name == Browsers.Safari => _browsers.SubscribeToApple(name),
                _ => _browsers.Subscribe(name),
            };
            return context.Response.WriteAsync(subscription.ToJson(), context.RequestAborted);
        }

        context.Response.StatusCode = StatusCodes.Status400BadRequest;
        return context.Response.WriteAsync(Browsers.NameRule + "\n", context.RequestAborted);
    }

    private static string? NameIn(ReadOnlyMemory<byte> body) =>
        StrictJson.Parse(body, out _) is { ValueKind: JsonValueKind.Object } json && json.TryGetProperty("name", out JsonElement name)
            && name.ValueKind == JsonValueKind.String ? name.GetString() : null;

    private void WriteScripts(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        foreach ((string address, Script script) in _scripts.All)
        {
            json.WritePropertyName(address);
            ScriptJson.Write(json, script);
        }

        json.WriteEndObject();
    }

    private void WritePhones(Utf8JsonWriter json)
    {
        json.WriteStartArray();
        foreach (Phone phone in _phones.All)
        {
            json.WriteStartObject();
            json.WriteString("address", phone.Address);
            json.WriteString("platform", phone.Platform.ToString().ToLowerInvariant());
            json.WriteString("name", phone.Name);
            json.WriteNumber("received", phone.Received);
            json.WriteStartArray("lockScreen");
            foreach (ShownNotification shown in phone.LockScreen)
            {
                Write(json, shown);
            }

            json.WriteEndArray();
            json.WriteStartArray("cleared");
            foreach (ClearedNotification cleared in phone.Cleared)
            {
                Write(json, cleared);
            }

            json.WriteEndArray();
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void Write(Utf8JsonWriter json, ClearedNotification cleared)
    {
        json.WriteStartObject();
        json.WriteString("eventId", cleared.Shown.EventId);
        json.WriteString("title", cleared.Shown.Title);
        json.WriteString("body", cleared.Shown.Body);
        json.WriteString("reason", cleared.Reason);
        json.WriteString("at", cleared.At);
        json.WriteEndObject();
    }

    private static void Write(Utf8JsonWriter json, ShownNotification shown)
    {
        json.WriteStartObject();
        json.WriteString("title", shown.Title);
        json.WriteString("body", shown.Body);
        json.WriteString("at", shown.At);
        json.WriteString("pushType", shown.PushType);
        json.WriteString("priority", shown.Priority);
        json.WriteString("collapseId", shown.CollapseId);
        json.WriteString("eventId", shown.EventId);
        json.WritePropertyName("payload");
        json.WriteRawValue(shown.Payload);
        json.WriteEndObject();
    }

    private void WriteViolations(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        foreach (ViolationKind kind in Enum.GetValues<ViolationKind>())
        {
            json.WriteNumber(JsonNamingPolicy.CamelCase.ConvertName(kind.ToString()), _violations[kind]);
        }

        json.WriteEndObject();
    }

    private static Task StatusAsync(HttpContext context, int status)
    {
        context.Response.StatusCode = status;
        return Task.CompletedTask;
    }

    private static async Task WriteAsync(HttpContext context, Action<Utf8JsonWriter> write)
    {
        ArrayBufferWriter<byte> buffer = new();
        using (Utf8JsonWriter json = new(buffer, Writing))
        {
            write(json);
        }

        context.Response.ContentType = "application/json";
        await context.Response.BodyWriter.WriteAsync(buffer.WrittenMemory, context.RequestAborted);
    }
}
