using System.Reflection;
using System.Text.RegularExpressions;
using Pnh.Api.Tests.Layering;
using Pnh.Core.Plans;

namespace Pnh.Api.Tests.Documents;

/// <summary><c>docs/why.md</c> has a section for each reason that a timeline may name, and for no other.</summary>
public sealed partial class WhyDocumentTests
{
    // Where deliveries get their reasons.
    private static readonly string[] Folders =
    [
        "src/Pnh.Core/Addresses", "src/Pnh.Core/Dispatch", "src/Pnh.Core/FanOuts", "src/Pnh.Core/Hubs", "src/Pnh.Core/Lanes", "src/Pnh.Core/Plans", "src/Pnh.Core/Progress", "src/Pnh.Core/Push", "src/Pnh.Core/Shards", "src/Pnh.Core/Withdrawals",
        "src/Pnh.Channels/Apns", "src/Pnh.Channels/Fcm", "src/Pnh.Channels/Net", "src/Pnh.Channels/Provider", "src/Pnh.Channels/WebPush",
    ];

    // Words of a protocol, of a check of the API, or of a meter: they stand in no timeline. A new word of the code is one of these, or a reason.
    private static readonly string[] NoReasons =
    [
        "apns-collapse-id", "apns-expiration", "apns-id", "apns-priority", "apns-push-type", "apns-unique-id", "bad-event", "content-available", "duplicate-member", "fan-out",
        "fcm-token", "http-5", "id-conflict", "interruption-level", "invalid-key", "invalid-value", "loc-args", "loc-key", "mutable-content", "no-cache", "not-allowed", "pnh-body", "pnh-category", "pnh-class", "pnh-fetch", "pnh-id", "pnh-link", "pnh-reason", "pnh-replace", "pnh-title", "pnh-withdraw",
        "relevance-score", "retry-after", "thread-id", "title-loc-args", "title-loc-key", "x-wns-error-description", "x-wns-status", "too-long", "too-many", "unknown-member", "was-asked", "wrong-type",
    ];

    // Tables of HTTP.
    private static readonly string[] NoSources = ["HeaderName.cs", "HpackStaticTable.cs"];

    // Reasons of one word, which no look at the code can tell from other texts.
    private static readonly string[] Words = ["answered", "seen", "collapsed", "evicted", "stopped", "subject", "unanswered", "unreadable"];

    [Fact]
    public void Why_Sections_AreTheReasonsOfTheCode()
    {
        var reasons = Folders.SelectMany(static folder => Directory.EnumerateFiles(Path.Combine(SourceTree.Root, folder), "*.cs", SearchOption.AllDirectories))
            .Where(static file => !NoSources.Contains(Path.GetFileName(file)))
            .SelectMany(static file => KebabText().Matches(File.ReadAllText(file)).Select(static match => match.Groups[1].Value))
            .Concat(typeof(PlanReasons).GetFields(BindingFlags.Public | BindingFlags.Static).Select(static field => (string)field.GetRawConstantValue()!))
            .Except(NoReasons)
            .Concat(Words);
        var sections = File.ReadLines(Path.Combine(SourceTree.Root, "docs", "why.md")).Where(static line => line.StartsWith("### ", StringComparison.Ordinal)).Select(static line => line[4..]).ToList();

        Assert.Equal(reasons.Distinct().Order(StringComparer.Ordinal), sections.Order(StringComparer.Ordinal));
    }

    // A literal of at least two lower-case words with hyphens between them; not in a comment.
    [GeneratedRegex("(?<!//.*)\"([a-z]+(?:-[a-z0-9]+)+)\"")]
    private static partial Regex KebabText();
}
