using System.Globalization;
using System.Text;
using System.Text.Json.Serialization;
using Pnh.Client.Reports;

namespace Pnh.Api.Hosting;

/// <summary>Timelines and lines of the feed, for a person.</summary>
internal static class EventText
{
    /// <summary>A line for the event, one for each device, and one for each thing that happened to it, with the seconds since the event was taken.</summary>
    public static string Of(PnhTimeline timeline)
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"{timeline.Id}  {timeline.Class}, {timeline.State}, taken {timeline.AcceptedAt:u}, of use until {timeline.ExpiresAt:u}{Remark(timeline.Outcome)}\n");
        foreach (var delivery in timeline.Deliveries)
        {
            text.Append(CultureInfo.InvariantCulture, $"\n{delivery.User}/{delivery.Device}  {delivery.State}{Remark(delivery.Channel)}{Remark(delivery.Reason)}{(delivery.Mailbox ? ", waits in its mailbox" : "")}\n");
            foreach (var milestone in delivery.Milestones)
            {
                var after = (milestone.At - timeline.AcceptedAt).TotalSeconds;
                text.Append(CultureInfo.InvariantCulture, $"  {after,9:0.000} s  {milestone.Kind}{Remark(milestone.State)}{Remark(milestone.Channel)}{Remark(milestone.Reason)}\n");
            }
        }

        return text.ToString();
    }

    /// <summary>One line.</summary>
    public static string Of(PnhFeedEntry entry)
    {
        var what = entry.Type == "delivery" ? entry.State : entry.Type;
        var device = entry.Device is null ? entry.User : $"{entry.User}/{entry.Device}";
        return string.Join("  ", new[] { entry.At?.ToString("u", CultureInfo.InvariantCulture), what, entry.Id, device, entry.Channel, entry.Reason, entry.Health }.Where(static part => !string.IsNullOrEmpty(part)));
    }

    private static string Remark(string? text) => text is null ? "" : $", {text}";
}

/// <summary>The same for a program: as the API writes them.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(PnhTimeline))]
[JsonSerializable(typeof(PnhFeedEntry))]
internal sealed partial class PublisherJson : JsonSerializerContext;
