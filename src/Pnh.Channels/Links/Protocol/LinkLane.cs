using System.Diagnostics.CodeAnalysis;
using Pnh.Core.Events;

namespace Pnh.Channels.Links.Protocol;

/// <summary>Batches of a link in their order; the last one takes further items. For <see cref="LinkQueue"/>, under its lock.</summary>
internal sealed class LinkLane
{
    private readonly Queue<LinkWriter> _batches = new();

    /// <summary>The batch that takes the next item; null = a new one has to be added.</summary>
    public LinkWriter? Filling { get; private set; }

    /// <summary>The event of that batch's last item, when the item is one for sessions that get it now; null = it is another.</summary>
    public Event? Event { get; set; }

    public void Add(LinkWriter batch)
    {
        _batches.Enqueue(batch);
        Filling = batch;
        Event = null;
    }

    public bool TryTake([NotNullWhen(true)] out LinkWriter? batch)
    {
        var isTaken = _batches.TryDequeue(out batch);
        if (ReferenceEquals(batch, Filling))
        {
            Filling = null;
            Event = null;
        }

        return isTaken;
    }

    public void Clear()
    {
        _batches.Clear();
        Filling = null;
        Event = null;
    }
}
