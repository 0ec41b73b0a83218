using System.Text.Json;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Api.Bodies;

/// <summary>
/// A device as JSON, both ways. Each channel reads and writes its own section, so a new channel brings its section along. Thread-safe.
/// </summary>
internal sealed class DeviceJson
{
    private static readonly (string Name, Platform Platform)[] Platforms =
        [("ios", Platform.Ios), ("android", Platform.Android), ("web", Platform.Web), ("desktop", Platform.Desktop)];

    private readonly IPushChannel[] _channels;

    public DeviceJson(IEnumerable<IPushChannel> channels) => _channels = [.. channels];

    internal static string Label(Platform platform) => Array.Find(Platforms, p => p.Platform == platform).Name;

    /// <summary>
    /// Reads a registration; null with errors when it is wrong. In an import the body also names <c>user</c> and <c>device</c>, and may
    /// carry <c>registeredAt</c>, which then is its addresses' too; one in the future counts as <paramref name="now"/>.
    /// </summary>
    internal OwnedDevice? Read(string app, ReadOnlyMemory<byte> body, string? user, string? deviceId, DateTimeOffset now, ICollection<FieldError> errors)
    {
        var before = errors.Count;
        var draft = new Draft { App = app, User = user, Id = deviceId, IsImport = user is null, RegisteredAt = now };
        return ObjectBody.Read(body, errors, (ref JsonCursor cursor) =>
        {
            ReadMembers(ref cursor, draft);
            cursor.LeaveBody();
            ReadSections(ref cursor, draft, now);
            Require(ref cursor, errors.Skip(before), draft.Platform, "/platform");
            Require(ref cursor, errors.Skip(before), draft.User, "/user");
            Require(ref cursor, errors.Skip(before), draft.Id, "/device");
            return draft;
        })?.ToDevice();
    }

    /// <summary>Writes the device as an object; <paramref name="user"/> is null except in an export. Of what was taken off the user's devices, that of this one which it has not again. Of <paramref name="renewal"/> null = none.</summary>
    internal void Write(Utf8JsonWriter json, string? user, Device device, IReadOnlyList<RemovedAddress>? removed = null, string? renewal = null)
    {
        json.WriteStartObject();
        if (user is not null)
        {
            json.WriteString("user", user);
        }

        json.WriteString("device", device.Id);
        json.WriteString("platform", Label(device.Platform));
        foreach (var channel in _channels)
        {
            var own = device.Addresses.Where(a => a.Channel == channel.Name);
            if (own.Any())
            {
                json.WriteStartObject(channel.Name);
                channel.WriteAddresses(json, own);
                json.WriteEndObject();
            }
        }

        if (device.Locale is not null)
        {
            json.WriteString("locale", device.Locale);
        }

        if (device.AppVersion is not null)
        {
            json.WriteString("appVersion", device.AppVersion);
        }

        json.WriteString("registeredAt", device.RegisteredAt);
        WriteRemoved(json, device, removed ?? []);
        WriteGiven(json, "renewal", renewal);
        json.WriteEndObject();
    }

    private static void WriteRemoved(Utf8JsonWriter json, Device device, IReadOnlyList<RemovedAddress> removed)
    {
        var isMissing = removed.Where(one => one.Device == device.Id && !device.Addresses.Any(has => has.Channel == one.Channel && (one.Kind.Length == 0 || has.Member == PushAddress.MemberOf(one.Kind)))).ToList();
        if (isMissing.Count == 0)
        {
            return;
        }

        json.WriteStartArray("removed");
        foreach (var one in isMissing)
        {
            json.WriteStartObject();
            json.WriteString("channel", one.Channel);
            WriteGiven(json, "kind", PushAddress.MemberOf(one.Kind));
            json.WriteString("at", one.At);
            WriteGiven(json, "reason", one.Reason);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void WriteGiven(Utf8JsonWriter json, string name, string? value)
    {
        if (!string.IsNullOrEmpty(value))
        {
            json.WriteString(name, value);
        }
    }

    private void ReadMembers(ref JsonCursor cursor, Draft draft)
    {
        var seen = 0u;
        while (cursor.NextMember(out var name))
        {
            if (name.SequenceEqual("platform"u8))
            {
                cursor.Once(ref seen, 0, "/platform");
                draft.Platform = ReadPlatform(ref cursor);
            }
            else if (name.SequenceEqual("locale"u8))
            {
                cursor.Once(ref seen, 1, "/locale");
                draft.Locale = cursor.ReadString("/locale", 35);
            }
            else if (name.SequenceEqual("appVersion"u8))
            {
                cursor.Once(ref seen, 2, "/appVersion");
                draft.AppVersion = cursor.ReadString("/appVersion", 64);
            }
            else if (draft.IsImport && name.SequenceEqual("user"u8))
            {
                cursor.Once(ref seen, 3, "/user");
                draft.User = cursor.ReadName("/user");
            }
            else if (draft.IsImport && name.SequenceEqual("device"u8))
            {
                cursor.Once(ref seen, 4, "/device");
                draft.Id = cursor.ReadName("/device");
            }
            else if (draft.IsImport && name.SequenceEqual("registeredAt"u8))
            {
                cursor.Once(ref seen, 5, "/registeredAt");
                draft.RegisteredAt = SettingsJson.ReadTime(ref cursor, "/registeredAt") ?? draft.RegisteredAt;
            }
            else if (FindChannel(name) is { } channel)
            {
                TakeSection(ref cursor, channel, draft);
            }
            else
            {
                cursor.Unknown("", name);
            }
        }
    }

    private static void TakeSection(ref JsonCursor cursor, IPushChannel channel, Draft draft)
    {
        if (draft.Sections.Exists(known => known.Channel == channel))
        {
            cursor.Fail($"/{channel.Name}", "duplicate-member", "The member is given twice.");
        }

        if (cursor.ReadElement($"/{channel.Name}") is { } section)
        {
            draft.Sections.Add((channel, section));
        }
    }

    // After all members: registeredAt, which dates the addresses, is the last one of an export.
    private static void ReadSections(ref JsonCursor cursor, Draft draft, DateTimeOffset now)
    {
        if (draft.RegisteredAt > now)
        {
            // Else no provider's "gone" would ever be newer, and no address would become stale.
            draft.RegisteredAt = now;
        }

        foreach (var (channel, section) in draft.Sections)
        {
            ReadSection(ref cursor, channel, section, draft);
        }
    }

    private static void ReadSection(ref JsonCursor cursor, IPushChannel channel, JsonElement section, Draft draft)
    {
        if (section.ValueKind != JsonValueKind.Object)
        {
            cursor.Fail($"/{channel.Name}", "wrong-type", "Must be an object.");
            return;
        }

        var (own, addresses) = (new List<FieldError>(), new List<PushAddress>());
        channel.ReadAddresses(section, draft.RegisteredAt, addresses, own);
        draft.Addresses.AddRange(addresses);
        foreach (var error in own.Concat(addresses.Select(address => channel.CheckAddress(draft.App, address)).OfType<FieldError>()))
        {
            cursor.Fail($"/{channel.Name}{error.Pointer}", error.Code, error.Detail);
        }
    }

    private IPushChannel? FindChannel(ReadOnlySpan<byte> name)
    {
        foreach (var channel in _channels)
        {
            if (channel.Name != ChannelNames.WebSocket && System.Text.Encoding.UTF8.GetBytes(channel.Name).AsSpan().SequenceEqual(name))
            {
                return channel;
            }
        }

        return null;
    }

    private static Platform? ReadPlatform(ref JsonCursor cursor)
    {
        if (cursor.ReadString("/platform", 32) is not { } name)
        {
            return null;
        }

        foreach (var (known, platform) in Platforms)
        {
            if (known == name)
            {
                return platform;
            }
        }

        cursor.Fail("/platform", "unknown-value", "One of ios, android, web, desktop.");
        return null;
    }

    // A member that was given but wrong has its error already, or came when there were too many.
    private static void Require<T>(ref JsonCursor cursor, IEnumerable<FieldError> errors, T? value, string pointer)
    {
        if (value is null && !errors.Any(e => e.Pointer == pointer))
        {
            cursor.Fail(pointer, "required", "The member is missing.");
        }
    }

    private sealed class Draft
    {
        public required string App { get; init; }

        public bool IsImport { get; init; }

        public string? User { get; set; }

        public string? Id { get; set; }

        public Platform? Platform { get; set; }

        public string? Locale { get; set; }

        public string? AppVersion { get; set; }

        public DateTimeOffset RegisteredAt { get; set; }

        public List<(IPushChannel Channel, JsonElement Section)> Sections { get; } = [];

        public List<PushAddress> Addresses { get; } = [];

        public OwnedDevice ToDevice() => new(User!, new Device
        {
            Id = Id!,
            Platform = Platform!.Value,
            Addresses = Addresses,
            Locale = Locale,
            AppVersion = AppVersion,
            RegisteredAt = RegisteredAt,
        });
    }
}
