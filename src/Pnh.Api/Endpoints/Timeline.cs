using Pnh.Core.Journal;

namespace Pnh.Api.Endpoints;

/// <summary>
/// An event's history, sorted by delivery: the milestones of each device as a chain through the list, so that 10,000 deliveries cost two arrays.
/// Immutable once made.
/// </summary>
internal sealed class Timeline
{
    private readonly int[] _next;
    private readonly List<Chain> _deliveries = [];
    private bool _isDispatched;
    private bool _isWithdrawn;
    private int _pending;

    /// <summary>Sorts a history.</summary>
    public Timeline(EventHistory history)
    {
        History = history;
        _next = new int[history.Milestones.Count];
        Array.Fill(_next, -1);
        Sort();
    }

    /// <summary>What it was made from.</summary>
    public EventHistory History { get; }

    /// <summary>The planned deliveries, in the order they began.</summary>
    public IReadOnlyList<Chain> Deliveries => _deliveries;

    /// <summary>Of the whole event: <c>withdrawn</c> from all, else <c>done</c> when every planned delivery has its terminal state, else <c>open</c>.</summary>
    public string State => _isWithdrawn ? "withdrawn" : _isDispatched && _pending == 0 ? "done" : "open";

    /// <summary>Why nothing was planned, or not for everybody; null = it was, or not all is yet.</summary>
    public string? Outcome { get; private set; }

    /// <summary>The milestone after this one in its chain; -1 = that was the last.</summary>
    public int After(int index) => _next[index];

    /// <summary>True for a milestone that belongs to no planned delivery: it stands with the event.</summary>
    public static bool IsOfEvent(in Milestone milestone) => milestone.Device is null || milestone.User is null;

    private void Sort()
    {
        var places = new Dictionary<(string User, string Device), int>();
        for (var i = 0; i < _next.Length; i++)
        {
            var milestone = History.Milestones[i];
            if (milestone is { User: { } user, Device: { } device })
            {
                if (milestone.Kind == MilestoneKind.Rested)
                {
                    continue; // where it waits is no step of it
                }

                if (!places.TryGetValue((user, device), out var place))
                {
                    places.Add((user, device), place = _deliveries.Count);
                    _deliveries.Add(new Chain { User = user, Device = device, First = i });
                }
                else
                {
                    _next[_deliveries[place].Last] = i;
                }

                _deliveries[place].Take(i, milestone);
            }
            else
            {
                TakeOfEvent(milestone);
            }
        }

        _pending = _deliveries.Count(static delivery => delivery.Settled < 0);
    }

    private void TakeOfEvent(in Milestone milestone)
    {
        _isWithdrawn |= milestone is { Kind: MilestoneKind.Withdrawn, User: null };
        if (milestone.Kind == MilestoneKind.Dispatched && !_isDispatched)
        {
            // The first counts: older versions noted it again after a restart, as no-devices where all devices had gone since.
            _isDispatched = true;
            Outcome = milestone.Reason;
        }
    }

    /// <summary>One delivery's milestones, by their places in the history.</summary>
    internal sealed class Chain
    {
        /// <summary>Whose device.</summary>
        public required string User { get; init; }

        /// <summary>Which.</summary>
        public required string Device { get; init; }

        /// <summary>Its first milestone.</summary>
        public required int First { get; init; }

        /// <summary>Its last milestone.</summary>
        public int Last { get; private set; }

        /// <summary>The last milestone with a reason: what a pending delivery waits for. -1 = none has one.</summary>
        public int Because { get; private set; } = -1;

        /// <summary>The milestone with its terminal state; -1 = pending.</summary>
        public int Settled { get; private set; } = -1;

        /// <summary>True while the device's mailbox holds the event, its TTL left aside.</summary>
        public bool IsKept { get; private set; }

        internal void Take(int index, in Milestone milestone)
        {
            Last = index;
            Because = milestone.Reason is null ? Because : index;
            switch (milestone.Kind)
            {
                case MilestoneKind.Settled:
                    Settled = index;
                    IsKept = milestone.IsKept;
                    break;
                case MilestoneKind.Planned:
                    IsKept = milestone.IsKept;
                    break;
                case MilestoneKind.AckedLate or MilestoneKind.Dropped:
                    IsKept = false;
                    break;
            }
        }
    }
}
