using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Core.Tests;

/// <summary>A session's socket in memory.</summary>
internal sealed class FakeLink : ISessionLink
{
    private readonly Lock _gate = new();
    private readonly List<Event> _frames = [];
    private readonly List<Withdrawal> _withdrawn = [];
    private SessionClose? _closed;

    /// <summary>Told of each prefetch and each send, in their order; null = nobody wants it.</summary>
    public Action<string>? Told { get; set; }

    /// <summary>How many frames it takes before it refuses.</summary>
    public int Room { get; set; } = int.MaxValue;

    /// <summary>What carries it; null = it is on this node.</summary>
    public ISessionCarrier? Carrier { get; init; }

    /// <summary>Its number there.</summary>
    public long Number { get; init; }

    public ISessionCarrier? FindCarrier(out long number)
    {
        number = Number;
        return Carrier;
    }

    public IReadOnlyList<Event> Frames
    {
        get
        {
            lock (_gate)
            {
                return [.. _frames];
            }
        }
    }

    /// <summary>What was taken back, as <c>event:reason</c>.</summary>
    public IReadOnlyList<string> Withdrawn
    {
        get
        {
            lock (_gate)
            {
                return [.. _withdrawn.Select(static w => $"{w.Event}:{w.Reason}")];
            }
        }
    }

    /// <summary>False = its client, or its node, does not take what was missed.</summary>
    public bool HearsMissed { get; init; } = true;

    /// <summary>What it was told to have missed.</summary>
    public List<MissedEvents> Missed { get; } = [];

    public bool TryTellMissed(string session, MissedEvents missed)
    {
        if (HearsMissed)
        {
            Missed.Add(missed);
        }

        return HearsMissed;
    }

    /// <summary>Sessions that it was asked to give away. It gives none.</summary>
    public List<string> Surrendered { get; } = [];

    public ValueTask<IReadOnlyList<string>?> SurrenderAsync(string session, long seq)
    {
        Surrendered.Add(session);
        return ValueTask.FromResult<IReadOnlyList<string>?>(null);
    }

    public IReadOnlyList<string> Ids => [.. Frames.Select(f => f.Id)];

    public SessionClose? ClosedWith
    {
        get
        {
            lock (_gate)
            {
                return _closed;
            }
        }
    }

    public bool TrySend(string session, Event accepted)
    {
        lock (_gate)
        {
            if (_closed is not null || _frames.Count >= Room)
            {
                return false;
            }

            _frames.Add(accepted);
            Told?.Invoke("send");
            return true;
        }
    }

    public bool TryReplay(string session, Event accepted) => TrySend(session, accepted);

    public bool TryWithdraw(string session, Withdrawal withdrawal)
    {
        lock (_gate)
        {
            _withdrawn.Add(withdrawal);
            return _closed is null;
        }
    }

    public void Prefetch(int step) => Told?.Invoke($"fetch {step}");

    public void Close(string session, SessionClose reason)
    {
        lock (_gate)
        {
            _closed ??= reason;
        }
    }
}
