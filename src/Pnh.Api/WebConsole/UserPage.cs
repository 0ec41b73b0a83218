using System.Text.Json;
using Pnh.Api.Bodies;
using Pnh.Api.Endpoints;
using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Journal;
using Pnh.Core.Sessions;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Api.WebConsole;

/// <summary>All that the console shows of a user: devices, sessions, settings, and the last events with the reason why each did or did not ring; and whether an event has that id, as one field of the page takes both.</summary>
internal sealed class UserPage(Hub hub, IDeviceStore devices, DeviceJson json, IEventJournal journal, HistoryReads reads, EventSearch search, TimeProvider time)
{
    private const int Events = 25;
    private const int Newest = 15;

    /// <summary>Answers with the user; one who is not known has nothing.</summary>
    /// <param name="context">The request.</param>
    /// <param name="user">Who.</param>
    /// <param name="device">Only events with a delivery to it; null = all.</param>
    /// <param name="before">A cursor of an earlier page; null = from the newest. Not one of this hub is a <see cref="FormatException"/>.</param>
    public async Task WriteAsync(HttpContext context, UserKey user, string? device, string? before)
    {
        var (isRead, page) = await reads.ReadAsync(user.App, end => journal.ReadUserAsync(user.App, user.User, before, Events, end), context.RequestAborted);
        if (!isRead)
        {
            await HistoryReads.TooMany.ExecuteAsync(context);
            return;
        }

        var isEvent = Ids.IsEventId(user.User) && await journal.FindAsync(user.App, user.User, context.RequestAborted) is not null;
        var snapshot = await devices.GetUserAsync(user, context.RequestAborted);
        var removed = await devices.FindRemovedAddressesAsync(user, context.RequestAborted);
        var sessions = hub.Router.Sessions(user);
        await JsonAnswer.WriteAsync(context.Response, writer => Write(writer, user, isEvent, snapshot, removed, sessions, page, new DeliveryFilter(device, null, null)));
    }

    /// <summary>Answers with the app's newest events.</summary>
    public Task WriteNewestAsync(HttpContext context, string app) => WriteAsync(context, new EventQuery(app, null, OnlyFailures: false, default, null, Newest));

    /// <summary>Answers with the app's newest events that did not arrive.</summary>
    /// <param name="context">The request.</param>
    /// <param name="app">Whose.</param>
    /// <param name="channel">Only those that ended on that channel; null = on any.</param>
    public Task WriteFailuresAsync(HttpContext context, string app, string? channel) =>
        WriteAsync(context, new EventQuery(app, null, OnlyFailures: true, new DeliveryFilter(null, null, channel) { LeavesOutGone = true }, null, Newest));

    private async Task WriteAsync(HttpContext context, EventQuery query)
    {
        if (await search.ReadAsync(query, context.RequestAborted) is not { } page)
        {
            await HistoryReads.TooMany.ExecuteAsync(context);
            return;
        }

        await JsonAnswer.WriteAsync(context.Response, writer =>
        {
            writer.WriteStartObject();
            WriteEvents(writer, page.Events);
            writer.WriteEndObject();
        });
    }

    private void Write(
        Utf8JsonWriter writer, UserKey user, bool isEvent, UserSnapshot snapshot, IReadOnlyList<RemovedAddress> removed, IReadOnlyList<LiveSession> sessions, UserEventPage page, DeliveryFilter filter)
    {
        writer.WriteStartObject();
        writer.WriteString("app", user.App);
        writer.WriteString("user", user.User);
        writer.WriteBoolean("isEvent", isEvent);
        writer.WriteStartArray("devices");
        foreach (var device in snapshot.Devices)
        {
            json.Write(writer, null, device, removed);
        }

        writer.WriteEndArray();
        writer.WritePropertyName("settings");
        SettingsJson.Write(writer, snapshot.Settings);
        writer.WriteStartArray("sessions");
        foreach (var session in sessions)
        {
            writer.WriteStartObject();
            writer.WriteString("device", session.Key.Device);
            writer.WriteString("state", session.State == SessionState.Active ? "active" : "background");
            writer.WriteString("since", session.Since);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
        WriteEvents(writer, page.Events.Where(filter.Passes));
        TimelineWriter.WriteOptional(writer, "next", page.Next);
        writer.WriteEndObject();
    }

    private void WriteEvents(Utf8JsonWriter writer, IEnumerable<EventHistory> events)
    {
        writer.WriteStartArray("events");
        foreach (var history in events)
        {
            TimelineWriter.WriteShare(writer, new Timeline(history), time.GetUtcNow());
        }

        writer.WriteEndArray();
    }
}
