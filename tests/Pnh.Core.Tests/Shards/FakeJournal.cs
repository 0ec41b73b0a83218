using Pnh.Core.Events;
using Pnh.Core.Journal;

namespace Pnh.Core.Tests.Shards;

/// <summary>A journal in memory that checks what it is told: nothing settled twice, nothing finished twice or before its deliveries.</summary>
internal sealed class FakeJournal : IEventJournal
{
    private readonly Lock _gate = new();
    private readonly Dictionary<string, Event> _events = [];
    private readonly List<SettledDelivery> _settled = [];
    private readonly List<string> _finished = [];
    private readonly HashSet<(string Event, string User, string Device)> _ended = [];

    /// <summary>Thrown by every append while set.</summary>
    public Exception? Fault { get; set; }

    /// <summary>Appends wait for it.</summary>
    public Task Sync { get; set; } = Task.CompletedTask;

    public List<UnfinishedEvent> Unfinished { get; } = [];

    public IReadOnlyList<SettledDelivery> Settled
    {
        get
        {
            lock (_gate)
            {
                return [.. _settled];
            }
        }
    }

    public IReadOnlyList<string> Finished
    {
        get
        {
            lock (_gate)
            {
                return [.. _finished];
            }
        }
    }

    /// <summary>How the delivery ended: <c>state</c> or <c>state:reason</c>; null = not yet.</summary>
    public string? EndOf(string eventId, string device, string? user = null)
    {
        lock (_gate)
        {
            foreach (var end in _settled)
            {
                if (end.Event.Id == eventId && end.Device == device && (user is null || end.User == user))
                {
                    return end.Reason is null ? end.State : $"{end.State}:{end.Reason}";
                }
            }

            return null;
        }
    }

    public async ValueTask<AppendResult> AppendAsync(Event accepted, CancellationToken cancellationToken)
    {
        await Sync;
        lock (_gate)
        {
            if (Fault is not null)
            {
                throw Fault;
            }

            if (_events.TryGetValue(accepted.Id, out var known))
            {
                return known.Body.Span.SequenceEqual(accepted.Body.Span) ? AppendResult.Duplicate : AppendResult.Conflict;
            }

            _events.Add(accepted.Id, accepted);
            return AppendResult.Appended;
        }
    }

    public void Settle(in SettledDelivery settled)
    {
        lock (_gate)
        {
            Assert.True(_ended.Add((settled.Event.Id, settled.User, settled.Device)), $"{settled.Event.Id} ended twice on {settled.Device}");
            Assert.DoesNotContain(settled.Event.Id, _finished);
            _settled.Add(settled);
        }
    }

    public void Finish(Event finished)
    {
        lock (_gate)
        {
            Assert.DoesNotContain(finished.Id, _finished);
            _finished.Add(finished.Id);
        }
    }

    public async IAsyncEnumerable<UnfinishedEvent> RecoverAsync(
        [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken)
    {
        foreach (var unfinished in Unfinished)
        {
            await Task.Yield();
            cancellationToken.ThrowIfCancellationRequested();
            yield return unfinished;
        }
    }
}
