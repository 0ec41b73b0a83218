using System.Globalization;
using Pnh.Channels.Links.Protocol;
using Pnh.Core.Sessions;
using Pnh.Core.Stores;

namespace Pnh.Channels.Links;

/// <summary>A connection of a link at the hub, and the edge behind it.</summary>
internal sealed class LinkedEdge(HubLink link, LinkSocket carrier, string peer, string? keyName)
{
    private static readonly TimeSpan NoteAfter = TimeSpan.FromMilliseconds(250);
    private volatile LinkHello? _edge;
    private long _noted;
    private int _isDue;
    private int _isNoting;

    /// <summary>The hub's end.</summary>
    public HubLink Link { get; } = link;

    /// <summary>What carries it.</summary>
    public LinkSocket Carrier { get; } = carrier;

    /// <summary>Address of the other end.</summary>
    public string Peer { get; } = peer;

    /// <summary>Name of the key that it showed; null = the key has none.</summary>
    public string? KeyName { get; } = keyName;

    /// <summary>What the edge said of itself; null = it was not greeted (yet).</summary>
    public LinkHello? Edge
    {
        get => _edge;
        set => _edge = value;
    }

    /// <summary>When the edge's process started, by this hub's clock.</summary>
    public DateTimeOffset StartedAt { get; set; }

    /// <summary>True once it was told that it may not be linked.</summary>
    public bool IsRefused { get; set; }

    /// <summary>What went over it.</summary>
    public LinkTraffic Traffic => new(Carrier.BytesIn, Carrier.BytesOut, Link.Output.Dropped);

    /// <summary>Name of the link among all of the hub: one for each place of each edge.</summary>
    public string Name => string.Create(CultureInfo.InvariantCulture, $"{Edge!.Place} {Edge.Node}");

    /// <summary>Calls <see cref="NoteAsync"/> when it is due. Set before the first report.</summary>
    public ITimer? Noting { get; set; }

    /// <summary>There are new reports: <see cref="NoteAsync"/> is due in a moment. Without any nobody wakes.</summary>
    public void NoteSoon()
    {
        if (Volatile.Read(ref _isDue) == 0 && Interlocked.Exchange(ref _isDue, 1) == 0)
        {
            Noting!.Change(NoteAfter, Timeout.InfiniteTimeSpan);
        }
    }

    /// <summary>Tells the edge which of its reports are on stable storage, when there are new ones.</summary>
    public async Task NoteAsync(ISessionEvents hub)
    {
        Volatile.Write(ref _isDue, 0);
        var reports = Link.Reports;
        if (reports <= _noted || Interlocked.Exchange(ref _isNoting, 1) != 0)
        {
            return;
        }

        try
        {
            await hub.FlushAsync();
            _noted = reports;
            Link.Noted(reports);
        }
        catch (StoreUnavailableException)
        {
            // The disk takes nothing now: the edge keeps them, and the next round asks again.
        }
        finally
        {
            Volatile.Write(ref _isNoting, 0);
        }

        // What came meanwhile, or is not on stable storage.
        if (Link.Reports > _noted)
        {
            NoteSoon();
        }
    }
}
