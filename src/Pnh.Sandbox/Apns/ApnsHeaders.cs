using System.Globalization;
using System.Text;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Primitives;
using Pnh.Sandbox.Phones;

namespace Pnh.Sandbox.Apns;

/// <summary>The header rules of "Sending notification requests to APNs". Every method returns the reason of the refusal, or null.</summary>
internal static class ApnsHeaders
{
    public const string Id = "apns-id";
    private const string PushType = "apns-push-type";
    private const string Topic = "apns-topic";
    private const string Priority = "apns-priority";
    private const string Expiration = "apns-expiration";
    private const string CollapseId = "apns-collapse-id";
    private const int DefaultPriority = 10;
    private const int MaxCollapseIdBytes = 64;

    private static readonly string[] Single = ["authorization", Id, PushType, Topic, Priority, Expiration, CollapseId];

    public static string? CheckDuplicates(IHeaderDictionary headers) =>
        Array.Exists(Single, name => headers[name].Count > 1) ? ApnsReason.DuplicateHeaders : null;

    /// <summary>A canonical UUID: 8-4-4-4-12 lower-case hexadecimal digits. Absent is fine.</summary>
    public static string? CheckId(IHeaderDictionary headers) =>
        Value(headers, Id) is not { } id || (Guid.TryParseExact(id, "D", out _) && !id.Any(char.IsAsciiLetterUpper))
            ? null
            : ApnsReason.BadMessageId;

    /// <summary>The id given, or a new one: what is no UUID is not repeated.</summary>
    public static string IdToEcho(IHeaderDictionary headers) =>
        headers[Id].Count == 1 && CheckId(headers) is null ? headers[Id].ToString() : Guid.NewGuid().ToString("D");

    public static string? CheckPush(IHeaderDictionary headers, IReadOnlyCollection<string> topics, string deviceToken, out ReceivedApnsPush? push)
    {
        push = null;
        if (PushTypeHeader.Find(Value(headers, PushType) ?? "") is not { } type)
        {
            return ApnsReason.InvalidPushType;
        }

        if (CheckTopic(Value(headers, Topic), type, topics, out string bundleId) is { } badTopic)
        {
            return badTopic;
        }

        if (CheckPriority(Value(headers, Priority), type, out int priority) is { } badPriority)
        {
            return badPriority;
        }

        if (Value(headers, Expiration) is { } expiration
            && !long.TryParse(expiration, NumberStyles.None, CultureInfo.InvariantCulture, out _))
        {
            return ApnsReason.BadExpirationDate;
        }

        string? collapseId = Value(headers, CollapseId);
        if (collapseId is not null && (collapseId.Length == 0 || Encoding.UTF8.GetByteCount(collapseId) > MaxCollapseIdBytes))
        {
            return ApnsReason.BadCollapseId;
        }

        push = new ReceivedApnsPush(SandboxPhones.AsToken(deviceToken), type, bundleId, priority, collapseId);
        return null;
    }

    private static string? CheckTopic(string? topic, PushTypeHeader type, IReadOnlyCollection<string> topics, out string bundleId)
    {
        bundleId = "";
        if (string.IsNullOrEmpty(topic))
        {
            return ApnsReason.MissingTopic;
        }

        // Bundle ids are letters, digits, hyphen and dot (CFBundleIdentifier).
        if (topic.Any(c => !char.IsAsciiLetterOrDigit(c) && c is not ('-' or '.')) || type.BundleIdOf(topic) is not { Length: > 0 } bundle)
        {
            return ApnsReason.BadTopic;
        }

        bundleId = bundle;
        return topics.Count == 0 || topics.Contains(bundle) ? null : ApnsReason.TopicDisallowed;
    }

    private static string? CheckPriority(string? text, PushTypeHeader type, out int priority)
    {
        priority = DefaultPriority;
        bool number = text is null || int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out priority);
        return number && Array.IndexOf(type.Priorities, priority) >= 0 ? null : ApnsReason.BadPriority;
    }

    private static string? Value(IHeaderDictionary headers, string name) =>
        headers.TryGetValue(name, out StringValues values) ? values.ToString() : null;
}
