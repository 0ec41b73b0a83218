using System.Buffers;
using System.Text.Json;
using Pnh.Channels.Provider.Payloads;
using Pnh.Core.Events;
using Pnh.Core.Users;

namespace Pnh.Channels.Apns;

/// <summary>
/// The <c>apns</c> section of a device: <c>{"token","voipToken","liveActivityToken","topic","environment"}</c>. Tokens are hex of any even
/// length (Apple: do not assume a length) and kept in lower case. Pure functions.
/// </summary>
internal static class ApnsAddress
{
    public const string Token = "token";
    public const string VoipToken = "voipToken";
    public const string LiveActivityToken = "liveActivityToken";

    /// <summary>Hex characters. Today's tokens have 64, live activities' 160 and more.</summary>
    public const int MaxTokenCharacters = 200;

    private static readonly SearchValues<char> TopicCharacters =
        SearchValues.Create("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_");

    /// <summary><c>environment/topic</c>; an empty topic stands for the account's. Not kept: clients choose topics, and the store shares what it keeps.</summary>
    public static string Scope(string environment, string topic) => $"{environment}/{topic}";

    public static void Read(JsonElement section, DateTimeOffset now, ICollection<PushAddress> addresses, ICollection<FieldError> errors) =>
        DeviceSection.Read(section, now, addresses, errors, ReadMembers);

    private static void ReadMembers(JsonElement section, DateTimeOffset now, ICollection<PushAddress> addresses, ICollection<FieldError> errors)
    {
        if (section.ValueKind != JsonValueKind.Object)
        {
            errors.Add(new FieldError("", "wrong-type", "Must be an object with token, voipToken or liveActivityToken."));
            return;
        }

        var before = errors.Count;
        var found = new List<(string Kind, string Value)>(3);
        string environment = ApnsAccounts.Production, topic = "";
        foreach (var member in section.EnumerateObject())
        {
            switch (member.Name)
            {
                case Token or VoipToken or LiveActivityToken:
                    if (ReadToken(member, errors) is { } token)
                    {
                        found.Add((member.Name, token));
                    }

                    break;
                case "environment":
                    environment = ReadText(member, errors, static text => text is ApnsAccounts.Production or ApnsAccounts.Sandbox, "Must be production or sandbox.");
                    break;
                case "topic":
                    topic = ReadText(member, errors, IsTopic, "Must be the app's bundle id, without a suffix such as .voip.");
                    break;
                default:
                    errors.Add(DeviceSection.Unknown("", member.Name, ApnsChannel.ChannelName));
                    break;
            }
        }

        if (found.Count == 0 && errors.Count == before)
        {
            errors.Add(new FieldError("", "required", "Needs at least one of token, voipToken and liveActivityToken."));
        }

        if (errors.Count > before)
        {
            return;
        }

        foreach (var (kind, value) in found)
        {
            addresses.Add(new PushAddress(ApnsChannel.ChannelName, kind, value, Scope(environment, topic), now));
        }
    }

    public static void Write(Utf8JsonWriter section, IEnumerable<PushAddress> addresses)
    {
        string? scope = null;
        foreach (var address in addresses)
        {
            section.WriteString(address.Kind, address.Value);
            scope = address.Scope;
        }

        if (scope is null)
        {
            return;
        }

        var slash = scope.IndexOf('/', StringComparison.Ordinal);
        if (slash + 1 < scope.Length)
        {
            section.WriteString("topic", scope.AsSpan(slash + 1));
        }

        section.WriteString("environment", scope.AsSpan(0, slash));
    }

    private static string? ReadToken(JsonProperty member, ICollection<FieldError> errors)
    {
        if (member.Value.ValueKind != JsonValueKind.String)
        {
            errors.Add(new FieldError($"/{member.Name}", "wrong-type", "Must be a string of hex digits."));
            return null;
        }

        var text = member.Value.GetString()!;
        if (text.Length is 0 or > MaxTokenCharacters || text.Length % 2 != 0 || !text.All(char.IsAsciiHexDigit))
        {
            errors.Add(new FieldError($"/{member.Name}", "invalid-address", "Must be hex digits, two per byte, at most 200."));
            return null;
        }

        return text.ToLowerInvariant();
    }

    private static string ReadText(JsonProperty member, ICollection<FieldError> errors, Func<string, bool> isValid, string detail)
    {
        var text = member.Value.ValueKind == JsonValueKind.String ? member.Value.GetString()! : null;
        if (text is null || !isValid(text))
        {
            errors.Add(new FieldError($"/{member.Name}", text is null ? "wrong-type" : "invalid-value", detail));
        }

        return text ?? "";
    }

    private static bool IsTopic(string text) => text.Length is > 0 and <= 155 && !text.AsSpan().ContainsAnyExcept(TopicCharacters);
}
