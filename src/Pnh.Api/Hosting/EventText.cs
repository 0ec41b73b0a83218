using System.Globalization;
using System.Text;
using System.Text.Json.Nodes;
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
            text.Append(CultureInfo.InvariantCulture, $"\n{delivery.User}/{delivery.Device}  {Of(delivery)}\n");
            foreach (var milestone in delivery.Milestones)
            {
                var after = (milestone.At - timeline.AcceptedAt).TotalSeconds;
                text.Append(CultureInfo.InvariantCulture, $"  {after,9:0.000} s  {milestone.Kind}{Remark(milestone.State)}{Remark(milestone.Channel)}{Remark(milestone.Reason)}\n");
            }
        }

        return text.ToString();
    }

    /// <summary>A line for the user, one for each device; then the events, each with a line for each device.</summary>
    public static string Of(UserReport report)
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"{report.User}  {(report.Presence.Active ? "in front of a device" : report.Presence.Online ? "online" : "not online")}\n");
        foreach (var device in report.Devices)
        {
            var channels = string.Join(", ", new[] { device.Apns is null ? null : "apns", device.Fcm is null ? null : "fcm", device.Webpush is null ? null : "webpush" }.OfType<string>());
            text.Append(CultureInfo.InvariantCulture, $"  {device.Device}  {device.Platform}, {(channels.Length > 0 ? channels : "no push address")}, registered {device.RegisteredAt:u}\n");
        }

        foreach (var one in report.Events)
        {
            text.Append(CultureInfo.InvariantCulture, $"\n{one.AcceptedAt:u}  {one.Id}  {one.Class}{Remark(one.Outcome)}\n");
            foreach (var delivery in one.Deliveries)
            {
                text.Append(CultureInfo.InvariantCulture, $"  {delivery.Device}  {Of(delivery)}\n");
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

    // Where it waits, the last thing that happened says for what.
    private static string Of(PnhDelivery delivery)
    {
        var why = delivery.Reason ?? (delivery.State == "pending" && delivery.Milestones.Count > 0 ? delivery.Milestones[^1].Reason : null);
        return $"{delivery.State}{Remark(delivery.Channel)}{Remark(why)}{(delivery.Mailbox ? ", waits in its mailbox" : "")}";
    }

    private static string Remark(string? text) => text is null ? "" : $", {text}";
}

/// <summary>What <c>pnh user</c> prints.</summary>
internal sealed record UserReport(string User, PnhPresence Presence, IReadOnlyList<PnhRegisteredDevice> Devices, JsonObject Settings, IReadOnlyList<PnhUserEvent> Events);

/// <summary>The same for a program: as the API writes them.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(PnhTimeline))]
[JsonSerializable(typeof(PnhFeedEntry))]
[JsonSerializable(typeof(UserReport))]
internal sealed partial class PublisherJson : JsonSerializerContext;
