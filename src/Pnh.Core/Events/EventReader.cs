using System.Text;
using System.Text.Json;

namespace Pnh.Core.Events;

/// <summary>
/// Reads an event's JSON (design: HTTP API) into an <see cref="Event"/>, reporting all field errors at once and refusing unknown
/// members. Thread-safe: one per process.
/// </summary>
public sealed class EventReader
{
    private readonly ClassPolicies _classes;
    private readonly HashSet<string> _channels;
    private readonly Dictionary<string, OverrideCheck> _checks;

    /// <summary>With the classes' TTLs and the names of the channels that exist (<c>websocket</c>, <c>apns</c>, …), whose overrides are taken as they are.</summary>
    public EventReader(ClassPolicies classes, IEnumerable<string> channels)
        : this(classes, channels.Select(static name => (name, (OverrideCheck)TakeAsItIs)))
    {
    }

    /// <summary>The same with a check of each channel's override, which is made of new events only: what was accepted once can be read for ever.</summary>
    public EventReader(ClassPolicies classes, IEnumerable<(string Name, OverrideCheck Check)> channels)
    {
        _classes = classes;
        _checks = channels.ToDictionary(static channel => channel.Name, static channel => channel.Check, StringComparer.Ordinal);
        _channels = [.. _checks.Keys];
    }

    /// <summary>Which schemes of an app's links there are besides https; asked of new events only.</summary>
    public Func<string, IReadOnlyList<string>> LinkSchemes { get; init; } = static _ => [];

    /// <summary>Whether providers get nothing of an app's events but ids, so that no override is taken; asked of new events only.</summary>
    public Func<string, bool> IsIdsOnly { get; init; } = static _ => false;

    /// <summary>
    /// Reads one event. Null with at least one error when the body is not a valid event. <paramref name="body"/> must stay unchanged
    /// for the event's life: data and overrides are slices of it.
    /// </summary>
    public Event? Read(ReadOnlyMemory<byte> body, in EventOrigin origin, ICollection<FieldError> errors)
    {
        var before = errors.Count;
        var draft = default(EventDraft);
        try
        {
            var cursor = new JsonCursor(body, errors);
            if (!cursor.EnterBody())
            {
                return null;
            }

            ReadMembers(ref cursor, ref draft);
            cursor.LeaveBody();
            if (draft.Overrides is not null && origin.ExpiresAt is null)
            {
                CheckOverrides(ref cursor, draft, IsIdsOnly(origin.App));
            }

            if (draft.Notification?.Link is { } link && origin.ExpiresAt is null && !IsLink(link, origin.App))
            {
                cursor.Fail("/notification/link", "invalid-address", "An absolute https address, or one of a scheme that the app's LinkSchemes lists.");
            }

            if (!draft.HasTo)
            {
                cursor.Fail("/to", "required", "Say whom the event is for: one of user, users, topic, device.");
            }
        }
        catch (JsonException fault)
        {
            errors.Add(new FieldError("", "invalid-json",
                $"Not valid JSON at byte {fault.BytePositionInLine ?? 0} of line {(fault.LineNumber ?? 0) + 1}, or nested deeper than {Limits.JsonDepth}."));
            return null;
        }

        return errors.Count == before ? Finish(draft, body, origin) : null;
    }

    private bool IsLink(string link, string app) =>
        Uri.TryCreate(link, UriKind.Absolute, out var address) && (address.Scheme == Uri.UriSchemeHttps || LinkSchemes(app).Contains(address.Scheme, StringComparer.OrdinalIgnoreCase));

    private Event Finish(in EventDraft draft, ReadOnlyMemory<byte> body, in EventOrigin origin) => new()
    {
        App = origin.App,
        Id = draft.Id ?? origin.Key ?? origin.Id ?? Ids.NewEventId(origin.AcceptedAt),
        IdGiven = (draft.Id ?? origin.Key) is not null,
        To = draft.To!,
        Class = draft.Class,
        AcceptedAt = origin.AcceptedAt,
        AcceptedTimestamp = origin.AcceptedTimestamp,
        ExpiresAt = origin.ExpiresAt ?? origin.AcceptedAt + (draft.Ttl ?? _classes[draft.Class].Ttl),
        CollapseKey = draft.CollapseKey,
        Priority = draft.Priority,
        AckWithin = draft.AckWithin,
        Except = draft.Except,
        Channels = draft.Channels,
        Data = draft.Data,
        Notification = draft.Notification,
        Overrides = draft.Overrides,
        TraceParent = origin.TraceParent,
        Body = body,
    };

    private void ReadMembers(ref JsonCursor cursor, ref EventDraft draft)
    {
        draft.Class = EventClass.Message;
        var seen = 0u;
        while (cursor.NextMember(out var name))
        {
            if (name.SequenceEqual("id"u8))
            {
                cursor.Once(ref seen, 0, "/id");
                draft.Id = MemberReader.ReadEventId(ref cursor);
            }
            else if (name.SequenceEqual("to"u8))
            {
                cursor.Once(ref seen, 1, "/to");
                draft.HasTo = true;
                draft.To = TargetReader.ReadTarget(ref cursor);
            }
            else if (name.SequenceEqual("class"u8))
            {
                cursor.Once(ref seen, 2, "/class");
                draft.Class = MemberReader.ReadClass(ref cursor);
            }
            else if (name.SequenceEqual("data"u8))
            {
                cursor.Once(ref seen, 3, "/data");
                draft.Data = cursor.ReadRaw("/data");
            }
            else if (name.SequenceEqual("notification"u8))
            {
                cursor.Once(ref seen, 4, "/notification");
                draft.Notification = NotificationReader.Read(ref cursor);
            }
            else if (name.SequenceEqual("ttl"u8))
            {
                cursor.Once(ref seen, 5, "/ttl");
                draft.Ttl = cursor.ReadSeconds("/ttl", TimeSpan.Zero, Limits.Ttl);
            }
            else if (name.SequenceEqual("collapseKey"u8))
            {
                cursor.Once(ref seen, 6, "/collapseKey");
                draft.CollapseKey = MemberReader.ReadCollapseKey(ref cursor);
            }
            else if (name.SequenceEqual("ack"u8))
            {
                cursor.Once(ref seen, 7, "/ack");
                draft.AckWithin = MemberReader.ReadAck(ref cursor);
            }
            else if (name.SequenceEqual("except"u8))
            {
                cursor.Once(ref seen, 8, "/except");
                draft.Except = TargetReader.ReadExclusions(ref cursor);
            }
            else if (name.SequenceEqual("channels"u8))
            {
                cursor.Once(ref seen, 9, "/channels");
                draft.Channels = ReadChannels(ref cursor);
            }
            else if (name.SequenceEqual("priority"u8))
            {
                cursor.Once(ref seen, 10, "/priority");
                draft.Priority = MemberReader.ReadPriority(ref cursor);
            }
            else
            {
                ReadOverride(ref cursor, name, ref draft);
            }
        }
    }

    private void ReadOverride(ref JsonCursor cursor, ReadOnlySpan<byte> name, ref EventDraft draft)
    {
        var channel = Encoding.UTF8.GetString(name);
        if (channel == ChannelNames.WebSocket || !_channels.Contains(channel))
        {
            cursor.Unknown("", name);
            return;
        }

        var pointer = cursor.PointerTo("", name);
        var raw = cursor.ReadRawObject(pointer);
        draft.Overrides ??= [];
        if (!draft.Overrides.TryAdd(channel, raw))
        {
            cursor.Fail(pointer, "duplicate-member", "The member is given twice.");
        }
    }

    private void CheckOverrides(ref JsonCursor cursor, in EventDraft draft, bool isRefused)
    {
        foreach (var (channel, json) in draft.Overrides!)
        {
            if (json.IsEmpty)
            {
                // Refused already: no object, or no valid Unicode.
                continue;
            }

            if (isRefused)
            {
                cursor.Fail($"/{FieldError.Escape(channel)}", "content-ids", "Providers get ids alone of this app's events (Content=ids): nothing of one's own is merged into their payloads.");
                continue;
            }

            List<FieldError> found = [];
            _checks[channel](json, draft.Class, found);
            foreach (var error in found)
            {
                cursor.Fail($"/{FieldError.Escape(channel)}{error.Pointer}", error.Code, error.Detail);
            }
        }
    }

    private static void TakeAsItIs(ReadOnlyMemory<byte> json, EventClass @class, ICollection<FieldError> errors)
    {
    }

    private List<string> ReadChannels(ref JsonCursor cursor)
    {
        var before = cursor.ErrorCount;
        var names = cursor.ReadNames("/channels", Limits.ListEntries);
        if (names.Count == 0 && cursor.ErrorCount == before)
        {
            // Nothing could carry it: a 202 would promise what cannot be.
            cursor.Fail("/channels", "too-few", "At least one channel; leave the member out to allow all.");
        }

        foreach (var name in names)
        {
            if (!_channels.Contains(name))
            {
                cursor.Fail("/channels", "unknown-value", $"Known channels: {string.Join(", ", _channels.Order(StringComparer.Ordinal))}.");
                break;
            }
        }

        return names;
    }

    private struct EventDraft
    {
        public string? Id;
        public bool HasTo;
        public EventTarget? To;
        public EventClass Class;
        public TimeSpan? Ttl;
        public string? CollapseKey;
        public PushPriority Priority;
        public TimeSpan? AckWithin;
        public Exclusions? Except;
        public List<string>? Channels;
        public ReadOnlyMemory<byte> Data;
        public Notification? Notification;
        public Dictionary<string, ReadOnlyMemory<byte>>? Overrides;
    }
}
