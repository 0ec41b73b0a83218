using Pnh.Core.Events;

namespace Pnh.Core.Tests.Shards;

/// <summary>The model: what each device must have waiting, by the rules as a reader of the documents would keep them.</summary>
internal sealed class ModelBook
{
    private readonly Dictionary<string, Event> _events = [];
    private readonly Dictionary<string, List<string>> _waiting = [];
    private readonly HashSet<(string Event, string Device)> _done = [];

    public IReadOnlyDictionary<string, Event> Events => _events;

    /// <summary>What must never be pushed or framed (again) there.</summary>
    public IReadOnlySet<(string Event, string Device)> Done => _done;

    public HashSet<string> Withdrawn { get; } = [];

    public void Sent(Event accepted) => _events.Add(accepted.Id, accepted);

    /// <summary>A delivery began: it replaces older ones of its key, and waits when it may.</summary>
    public void Began(Event accepted, string device, bool waits)
    {
        var waiting = Of(device);
        if (accepted.CollapseKey is { } key)
        {
            foreach (var older in _events.Values.Where(e => e.CollapseKey == key && e.Class == accepted.Class && e.Id != accepted.Id))
            {
                Take(older.Id, device);
            }
        }

        if (waits && accepted.ExpiresAt > accepted.AcceptedAt)
        {
            waiting.Add(accepted.Id);
        }
    }

    public bool Waits(string id, string device, DateTimeOffset now) => Waiting(device, now).Contains(id);

    public IEnumerable<string> Waiting(string device, DateTimeOffset now) => Of(device).Where(id => _events[id].ExpiresAt > now);

    /// <summary>Acknowledged, collapsed or withdrawn there.</summary>
    public void Take(string id, string device)
    {
        Of(device).Remove(id);
        _done.Add((id, device));
    }

    private List<string> Of(string device)
    {
        if (!_waiting.TryGetValue(device, out var waiting))
        {
            _waiting.Add(device, waiting = []);
        }

        return waiting;
    }
}
