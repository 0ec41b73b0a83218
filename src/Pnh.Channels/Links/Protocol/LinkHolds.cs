namespace Pnh.Channels.Links.Protocol;

/// <summary>What sessions hold, where it does not fit into their <see cref="LinkItemKind.Reopen"/>: kept until that comes. Bounded. For the one reader of a link.</summary>
internal sealed class LinkHolds
{
    private const int Most = 2_000_000; // an edge keeps half as many reports
    private readonly Dictionary<long, List<string>> _ids = [];
    private int _count;

    /// <summary>Keeps the ids of an item.</summary>
    public void Keep(LinkReader reader)
    {
        var (handle, ids) = (reader.Number(), reader.Texts());
        reader.End();
        if ((_count += ids.Count) > Most)
        {
            throw new LinkFormatException("sessions hold more than an edge keeps");
        }

        if (!_ids.TryGetValue(handle, out var kept))
        {
            _ids.Add(handle, kept = []);
        }

        kept.AddRange(ids);
    }

    /// <summary>All that the session holds, with what its own item says.</summary>
    public IReadOnlyCollection<string> Take(long handle, IReadOnlyList<string> rest)
    {
        if (!_ids.Remove(handle, out var kept))
        {
            return rest;
        }

        _count -= kept.Count;
        return [.. kept, .. rest];
    }
}
