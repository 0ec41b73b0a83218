using System.Text.Json;
using Pnh.Sandbox.Contract;

namespace Pnh.Sandbox.Scripts;

/// <summary>Scripts as they travel over HTTP: <c>{"kind":"throttled","times":3,"retryAfter":30}</c>. Durations in seconds, the timestamp in Unix milliseconds.</summary>
internal static class ScriptJson
{
    private static readonly (string Name, ScriptKind Kind)[] Kinds =
        [.. Enum.GetValues<ScriptKind>().Select(kind => (kind.ToString().ToLowerInvariant(), kind))];

    /// <summary>The script, or one line that says what is wrong.</summary>
    public static string? Parse(ReadOnlyMemory<byte> body, out Script? script)
    {
        script = null;
        try
        {
            if (StrictJson.Parse(body, out string broken) is not { } json)
            {
                return $"not JSON: {broken}";
            }

            if (json.ValueKind != JsonValueKind.Object || !json.TryGetProperty("kind", out JsonElement kind) || KindOf(kind) is not { } known)
            {
                return $"kind must be one of {string.Join(", ", Kinds.Select(one => one.Name))}";
            }

            Script read = new(known);
            foreach (JsonProperty member in json.EnumerateObject())
            {
                if (Apply(read, member) is not { } next)
                {
                    return $"unknown member {member.Name}";
                }

                read = next;
            }

            script = read;
            return null;
        }
        catch (Exception e) when (e is InvalidOperationException or FormatException or ArgumentException)
        {
            return $"not a script: {e.Message}";
        }
    }

    public static void Write(Utf8JsonWriter json, Script script)
    {
        json.WriteStartObject();
        json.WriteString("kind", Array.Find(Kinds, one => one.Kind == script.Kind).Name);
        json.WriteNumber("times", script.Times);
        json.WriteNumber("delay", script.Delay.TotalSeconds);
        json.WriteNumber("timestamp", script.Timestamp?.ToUnixTimeMilliseconds() ?? 0);
        json.WriteNumber("errorCode", script.ErrorCode);
        json.WriteNumber("status", script.Status);
        json.WriteNumber("size", script.Size);
        json.WriteNumber("streams", script.Streams);
        json.WriteBoolean("delivered", script.Delivered);
        if (script.RetryAfter is { } wait)
        {
            json.WriteNumber("retryAfter", wait.TotalSeconds);
        }

        if (script.Reason is { } reason)
        {
            json.WriteString("reason", reason);
        }

        json.WriteEndObject();
    }

    private static ScriptKind? KindOf(JsonElement kind) =>
        kind.ValueKind == JsonValueKind.String && Array.FindIndex(Kinds, one => kind.ValueEquals(one.Name)) is >= 0 and int index
            ? Kinds[index].Kind
            : null;

    private static Script? Apply(Script script, JsonProperty member) => member.Name switch
    {
        "kind" => script,
        "times" => script with { Times = NotNegative(member.Value.GetInt32()) },
        "delay" => script with { Delay = Seconds(member.Value) },
        "retryAfter" => script with { RetryAfter = Seconds(member.Value) },
        "timestamp" => script with { Timestamp = DateTimeOffset.FromUnixTimeMilliseconds(member.Value.GetInt64()) },
        "errorCode" => script with { ErrorCode = NotNegative(member.Value.GetInt32()) },
        "status" => script with { Status = Status(member.Value.GetInt32()) },
        "size" => script with { Size = Size(member.Value.GetInt32()) },
        "streams" => script with { Streams = NotNegative(member.Value.GetInt32()) },
        "reason" => script with { Reason = Reason(member.Value.GetString()) },
        "delivered" => script with { Delivered = member.Value.GetBoolean() },
        _ => null,
    };

    private static int Status(int status) =>
        status is 0 or (>= 400 and <= 599) ? status : throw new FormatException("status must be 400 to 599");

    private static int Size(int bytes) => bytes is >= 0 and <= 16_777_216 ? bytes : throw new FormatException("size must be 0 to 16 MB");

    // It is written into JSON as it stands.
    private static string Reason(string? reason) => reason is { Length: > 0 and <= 64 } && reason.All(c => char.IsAsciiLetterOrDigit(c) || c == '_')
        ? reason
        : throw new FormatException("reason must be 1 to 64 letters, digits or underscores");

    private static int NotNegative(int value) => value >= 0 ? value : throw new FormatException("numbers must not be negative");

    private static TimeSpan Seconds(JsonElement value) => value.GetDouble() is >= 0 and <= 86_400 and double seconds
        ? TimeSpan.FromSeconds(seconds)
        : throw new FormatException("durations are 0 to 86400 seconds");
}
