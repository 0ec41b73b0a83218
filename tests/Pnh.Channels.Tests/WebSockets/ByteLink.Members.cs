using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>The members of calls as bytes.</summary>
internal sealed partial class ByteLink
{
    private static readonly EventReader Events = new(ClassPolicies.Default, ["websocket", "apns", "fcm"]);

    private static void WriteKey(BinaryWriter writer, SessionKey key) => WriteList(writer, [key.App, key.User, key.Device, key.Session]);

    private static SessionKey ReadKey(BinaryReader reader)
    {
        var names = ReadList(reader);
        return new SessionKey(names[0], names[1], names[2], names[3]);
    }

    // An event is its body with app, id and times. The monotonic clock is another one on another node: its age goes over.
    private static void WriteEvent(BinaryWriter writer, Event accepted)
    {
        writer.Write(accepted.App);
        writer.Write(accepted.Id);
        writer.Write(accepted.AcceptedAt.UtcTicks);
        writer.Write(accepted.ExpiresAt.UtcTicks);
        writer.Write(accepted.AcceptedTimestamp == 0 ? -1 : TimeProvider.System.GetElapsedTime(accepted.AcceptedTimestamp).Ticks);
        WriteOptional(writer, accepted.TraceParent);
        writer.Write(accepted.Body.Length);
        writer.Write(accepted.Body.Span);
    }

    private static Event ReadEvent(BinaryReader reader)
    {
        var (app, id) = (reader.ReadString(), reader.ReadString());
        var acceptedAt = new DateTimeOffset(reader.ReadInt64(), TimeSpan.Zero);
        var expiresAt = new DateTimeOffset(reader.ReadInt64(), TimeSpan.Zero);
        var age = reader.ReadInt64();
        var ticks = TimeSpan.FromTicks(age).TotalSeconds * TimeProvider.System.TimestampFrequency;
        var timestamp = age < 0 ? 0 : TimeProvider.System.GetTimestamp() - (long)ticks;
        var origin = new EventOrigin(app, acceptedAt, timestamp, ReadOptional(reader), id, expiresAt);
        var errors = new List<FieldError>();
        return Events.Read(reader.ReadBytes(reader.ReadInt32()), origin, errors)
            ?? throw new InvalidDataException(string.Join(' ', errors));
    }

    private static void WriteIdentity(BinaryWriter writer, ClientIdentity identity)
    {
        writer.Write(identity.App);
        writer.Write(identity.User);
        WriteOptional(writer, identity.Device);
        WriteList(writer, identity.Topics);
        writer.Write(identity.ExpiresAt.UtcTicks);
    }

    private static ClientIdentity ReadIdentity(BinaryReader reader) => new(
        reader.ReadString(),
        reader.ReadString(),
        ReadOptional(reader),
        ReadList(reader),
        new DateTimeOffset(reader.ReadInt64(), TimeSpan.Zero));

    private static void WriteList(BinaryWriter writer, IReadOnlyList<string> items)
    {
        writer.Write(items.Count);
        foreach (var item in items)
        {
            writer.Write(item);
        }
    }

    private static List<string> ReadList(BinaryReader reader)
    {
        var items = new List<string>();
        for (var left = reader.ReadInt32(); left > 0; left--)
        {
            items.Add(reader.ReadString());
        }

        return items;
    }

    private static void WriteOptional(BinaryWriter writer, string? text)
    {
        writer.Write(text is not null);
        writer.Write(text ?? "");
    }

    private static string? ReadOptional(BinaryReader reader)
    {
        var isThere = reader.ReadBoolean();
        var text = reader.ReadString();
        return isThere ? text : null;
    }
}
