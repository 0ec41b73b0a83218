using System.IO.Pipelines;
using System.Text.Json;
using Pnh.Api.Bodies;
using Pnh.Api.Endpoints;
using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Plans;
using Pnh.Core.Push;

namespace Pnh.Api.Ingest;

/// <summary>Writes the answer of explain: per user and device, the steps in the order in which they would happen, and why.</summary>
internal static class PlanWriter
{
    /// <summary>To a reader who is not waited for longer than this.</summary>
    internal static async Task WriteAsync(PipeWriter output, Event accepted, EventPlan plan, CancellationToken over)
    {
        await using (var json = new Utf8JsonWriter(output))
        {
            // A thousand users may have many devices each.
            var pieces = new JsonPieces(json, output);
            json.WriteStartObject();
            json.WriteString("id", accepted.Id);
            json.WriteString("class", accepted.Class.Label());
            json.WriteBoolean("durable", accepted.IsDurable);
            json.WriteString("expiresAt", accepted.ExpiresAt);
            if (plan.IsIdsOnly)
            {
                json.WriteString("content", "ids");
            }

            json.WriteStartArray("users");
            foreach (var user in plan.Users)
            {
                WriteUser(json, user);
                await pieces.FlushWhenDueAsync(over);
            }

            json.WriteEndArray();
            WritePlace(json, plan);
            json.WriteEndObject();
        }

        await output.FlushAsync(over);
    }

    private static void WritePlace(Utf8JsonWriter json, EventPlan plan)
    {
        if (plan.Members is { } members)
        {
            json.WriteNumber("members", members);
        }

        if (plan.Next is { } next)
        {
            json.WriteString("next", next);
        }
    }

    private static void WriteUser(Utf8JsonWriter json, UserPlan user)
    {
        json.WriteStartObject();
        json.WriteString("user", user.User);
        json.WriteString("outcome", user.Devices.Count == 0 ? PlanReasons.NoDevices : "planned");
        json.WriteStartArray("devices");
        foreach (var plan in user.Devices)
        {
            WriteDevice(json, plan);
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    private static void WriteDevice(Utf8JsonWriter json, in DevicePlan plan)
    {
        json.WriteStartObject();
        json.WriteString("device", plan.Device.Id);
        json.WriteString("platform", DeviceJson.Label(plan.Device.Platform));
        json.WriteString("reason", plan.Reason);
        json.WriteBoolean("suppressed", plan.IsSuppressed);
        json.WriteStartArray("steps");
        if (plan.Socket is not null)
        {
            json.WriteStartObject();
            json.WriteString("channel", ChannelNames.WebSocket);
            json.WriteString("when", "now");
            json.WriteString("session", plan.Socket.Key.Session);
            json.WriteEndObject();
        }

        if (plan.Push != PushTiming.Never)
        {
            json.WriteStartObject();
            json.WriteString("channel", plan.Channel!.Name);
            json.WriteString("when", When(plan.Push));
            if (plan.Quiet is { } quiet)
            {
                json.WriteString("until", quiet.Until);
            }

            if (plan.PushDelay > TimeSpan.Zero)
            {
                json.WriteNumber("after", plan.PushDelay.TotalSeconds);
            }

            json.WriteString("address", plan.Address!.Kind);
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteBoolean("mailbox", plan.Mailbox);
        if (plan.PushHeld is not null)
        {
            json.WriteString("pushHeld", plan.PushHeld);
        }

        json.WriteEndObject();
    }

    private static string When(PushTiming timing) => timing switch
    {
        PushTiming.Now => "now",
        PushTiming.UnlessAcked => "unless-acked",
        PushTiming.UnlessAckedElsewhere => "unless-acked-elsewhere",
        PushTiming.AfterQuiet => "held-until",
        _ => throw new ArgumentOutOfRangeException(nameof(timing), timing, null),
    };
}
