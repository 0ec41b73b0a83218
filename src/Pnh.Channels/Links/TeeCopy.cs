using Pnh.Channels.Links.Protocol;

namespace Pnh.Channels.Links;

/// <summary>An event as a tee gets it.</summary>
/// <param name="App">Its app.</param>
/// <param name="Id">Its id.</param>
/// <param name="AcceptedAt">When the hub accepted it.</param>
/// <param name="ExpiresAt">Until when it is worth delivering.</param>
/// <param name="TraceParent">Of its publisher; null = none.</param>
/// <param name="Body">JSON, as it was posted.</param>
internal readonly record struct TeeCopy(string App, string Id, DateTimeOffset AcceptedAt, DateTimeOffset ExpiresAt, string? TraceParent, ReadOnlyMemory<byte> Body)
{
    /// <summary>Reads the members of a <see cref="LinkItemKind.Send"/>.</summary>
    public static TeeCopy Read(ReadOnlyMemory<byte> members)
    {
        var reader = new LinkReader(members.Span);
        var (app, id, acceptedAt, expiresAt) = (reader.Text(), reader.Text(), reader.Time(), reader.Time());
        reader.Number(); // its age
        var trace = reader.OptionalText();
        return new(app, id, acceptedAt, expiresAt, trace, reader.Bytes().ToArray());
    }
}
