using System.Text.Json;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Api.Access;

/// <summary>The claims of a token (RFC 7519 section 4.1) that PNH knows; others are ignored. Times in Unix seconds; null = absent.</summary>
internal sealed record TokenClaims(
    IReadOnlyList<string> Audiences, string? Subject, double? Expires, double? NotBefore, double? IssuedAt, string? Device, IReadOnlyList<string> Topics)
{
    /// <summary>How far clocks may be apart, in seconds. Longer skews keep revoked users in.</summary>
    public const double SkewSeconds = 60;

    /// <summary>Most topics of one token, and audiences.</summary>
    public const int ListEntries = 100;

    /// <summary>31 December 9999: later is nonsense, and would not fit a date.</summary>
    private const double LatestSeconds = 253_402_300_799;

    /// <summary>Reads the JSON; false with a reason when it is malformed.</summary>
    public static bool TryRead(ReadOnlyMemory<byte> json, out TokenClaims claims, out string? refusal)
    {
        try
        {
            using var document = JsonDocument.Parse(json, TokenHeader.Strict);
            var root = document.RootElement;
            claims = new(
                ReadAudiences(root), ReadString(root, "sub"), ReadTime(root, "exp"), ReadTime(root, "nbf"), FindTime(root, "iat"), ReadString(root, "device"),
                root.TryGetProperty("topics", out var topics) ? ReadStrings(topics) : []);
            refusal = null;
            return true;
        }
        catch (Exception exception) when (exception is JsonException or InvalidOperationException or FormatException)
        {
            // Not an object, a member of another type, a number out of range, or an escape that is half a surrogate pair.
            claims = null!;
            refusal = "malformed";
            return false;
        }
    }

    /// <summary>Null when the token is valid at <paramref name="now"/>.</summary>
    public string? CheckTimes(DateTimeOffset now)
    {
        var seconds = now.ToUnixTimeMilliseconds() / 1000.0;
        return Expires is null ? "missing-expiry"
            : Expires.Value + SkewSeconds <= seconds ? IClientAuthenticator.Expired
            : NotBefore is { } from && from - SkewSeconds > seconds ? "not-yet-valid"
            : null;
    }

    /// <summary>Null when the token counts for a user who was erased at <paramref name="barrier"/>. The claim has whole seconds, so a token of that same second counts.</summary>
    public string? CheckErasure(DateTimeOffset barrier, DateTimeOffset now)
    {
        var isKeptOut = IssuedAt is { } issued ? issued < barrier.ToUnixTimeSeconds() : now < barrier + Limits.ErasedWithoutIssueTime;
        return isKeptOut ? "erased-user" : null;
    }

    /// <summary>Null when user, device and topics are ids that PNH takes.</summary>
    public string? CheckNames() =>
        !Ids.IsName(Subject) ? "bad-subject"
        : Device is not null && !Ids.IsName(Device) ? "bad-device"
        : !Topics.All(static topic => Ids.IsName(topic)) ? "bad-topics"
        : null;

    /// <summary>Only after every check.</summary>
    public ClientIdentity ToIdentity(string app) => new(app, Subject!, Device, Topics, DateTimeOffset.FromUnixTimeMilliseconds((long)(Math.Min(Expires!.Value + SkewSeconds, LatestSeconds) * 1000)));

    private static List<string> ReadAudiences(JsonElement root)
    {
        if (!root.TryGetProperty("aud", out var audience))
        {
            return [];
        }

        return audience.ValueKind == JsonValueKind.String ? [audience.GetString()!] : ReadStrings(audience);
    }

    private static string? ReadString(JsonElement root, string name) =>
        !root.TryGetProperty(name, out var value) ? null
        : value.GetString() ?? throw new FormatException();

    private static double? ReadTime(JsonElement root, string name) => root.TryGetProperty(name, out _) ? FindTime(root, name) ?? throw new FormatException() : null;

    // Alone for a claim without a meaning before a user is erased: no token is refused for it, and what is no time counts as absent.
    private static double? FindTime(JsonElement root, string name) =>
        root.TryGetProperty(name, out var value) && value.ValueKind == JsonValueKind.Number && value.TryGetDouble(out var seconds) && seconds is >= 0 and <= LatestSeconds ? seconds : null;

    private static List<string> ReadStrings(JsonElement array)
    {
        if (array.GetArrayLength() > ListEntries)
        {
            throw new FormatException();
        }

        var strings = new List<string>(array.GetArrayLength());
        foreach (var item in array.EnumerateArray())
        {
            strings.Add(item.GetString() ?? throw new FormatException());
        }

        return strings;
    }
}
