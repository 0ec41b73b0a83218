using Pnh.Core.Events;

namespace Pnh.Core.Intake;

/// <summary>
/// Places for the events of uploads, apart from those of events that come alone, so that neither takes the other's. A batch takes all of its places
/// at once, or waits for them until others leave: who can wait is not refused. Within an app and class who came first goes first; and a batch that
/// has its app's share and finds a class full is passed there by nobody. One lock, taken twice a batch. Thread-safe.
/// </summary>
internal sealed class UploadPlaces
{
    private readonly Lock _gate = new();
    private readonly int[] _bounds;
    private readonly int[] _inside;
    private readonly CancellationToken _stopping;
    private readonly Dictionary<string, AppPlaces> _apps = new(StringComparer.Ordinal);
    private readonly LinkedList<Batch> _waiting = new();

    /// <param name="bounds">Places by class. An app has three quarters of them: at 1,024 of bulk three whole batches.</param>
    /// <param name="stopping">The hub's stop, at which nobody waits any more.</param>
    internal UploadPlaces(int[] bounds, CancellationToken stopping)
    {
        _bounds = bounds;
        _inside = new int[bounds.Length];
        _stopping = stopping;
    }

    /// <summary>How many places of the class are taken.</summary>
    internal int Inside(EventClass @class) => Volatile.Read(ref _inside[(int)@class]);

    /// <summary>
    /// Completes when the events, all of one app, have their places; then <see cref="Leave"/> must follow. Null when the hub stops first. Synchronous
    /// when there is room.
    /// </summary>
    internal ValueTask<Batch?> EnterAsync(IReadOnlyList<Event> events, CancellationToken cancellationToken)
    {
        LinkedListNode<Batch> node;
        lock (_gate)
        {
            node = _waiting.AddLast(NewBatch(events));
            LetIn();
            if (node.List is null)
            {
                return ValueTask.FromResult<Batch?>(node.Value);
            }

            node.Value.Entered = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        }

        return WaitAsync(node, cancellationToken);
    }

    /// <summary>Gives the places back.</summary>
    internal void Leave(Batch batch)
    {
        lock (_gate)
        {
            Count(batch, -1);
            LetIn();
        }
    }

    private async ValueTask<Batch?> WaitAsync(LinkedListNode<Batch> node, CancellationToken cancellationToken)
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(_stopping, cancellationToken);
        try
        {
            await node.Value.Entered!.Task.WaitAsync(ended.Token).ConfigureAwait(false);
            return node.Value;
        }
        catch (OperationCanceledException)
        {
            GiveUp(node);
            cancellationToken.ThrowIfCancellationRequested();
            return null;
        }
    }

    // It may have been let in at the same moment; and those behind it need not wait for it any more.
    private void GiveUp(LinkedListNode<Batch> node)
    {
        lock (_gate)
        {
            if (node.List is null)
            {
                Count(node.Value, -1);
            }
            else
            {
                _waiting.Remove(node);
            }

            LetIn();
        }
    }

    private void LetIn()
    {
        foreach (var batch in _waiting)
        {
            batch.App.Awaited = 0;
        }

        var closed = 0;
        for (var node = _waiting.First; node is not null;)
        {
            var (next, batch) = (node.Next, node.Value);
            if ((batch.App.Awaited & batch.Classes) == 0 && HasShare(batch) && HasRoom(batch) && (closed & batch.Classes) == 0)
            {
                Count(batch, 1);
                _waiting.Remove(node);
                batch.Entered?.TrySetResult();
            }
            else
            {
                batch.App.Awaited |= batch.Classes;
                closed |= batch.Closes;
            }

            node = next;
        }
    }

    /// <summary>What its own app has inside leaves it as many as it needs.</summary>
    private bool HasShare(Batch batch)
    {
        for (var i = 0; i < _bounds.Length; i++)
        {
            if (batch.App.Inside[i] + batch.Places[i] > OfApp(_bounds[i]))
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>And all apps together do.</summary>
    private bool HasRoom(Batch batch)
    {
        var full = 0;
        for (var i = 0; i < _bounds.Length; i++)
        {
            full |= _inside[i] + batch.Places[i] > _bounds[i] ? 1 << i : 0;
        }

        // Only others are in its way: their small batches would go past a large one for ever. Until it is in, or with two classes they would be full in turns.
        batch.Closes |= full;
        return full == 0;
    }

    private void Count(Batch batch, int sign)
    {
        for (var i = 0; i < _bounds.Length; i++)
        {
            Volatile.Write(ref _inside[i], _inside[i] + (sign * batch.Places[i]));
            batch.App.Inside[i] += sign * batch.Places[i];
        }
    }

    private Batch NewBatch(IReadOnlyList<Event> events)
    {
        if (!_apps.TryGetValue(events[0].App, out var app))
        {
            _apps[events[0].App] = app = new AppPlaces(new int[_bounds.Length]);
        }

        var batch = new Batch(app, new int[_bounds.Length]);
        for (var i = 0; i < events.Count; i++)
        {
            // More than an app ever has counts as all it has, or it would wait for ever.
            ref var places = ref batch.Places[(int)events[i].Class];
            places = Math.Min(places + 1, OfApp(_bounds[(int)events[i].Class]));
            batch.Classes |= 1 << (int)events[i].Class;
        }

        return batch;
    }

    private static int OfApp(int bound) => bound / 4 * 3;

    /// <summary>The places of one batch.</summary>
    internal sealed class Batch(AppPlaces app, int[] places)
    {
        internal AppPlaces App { get; } = app;

        /// <summary>How many it takes, by class.</summary>
        internal int[] Places { get; } = places;

        /// <summary>A bit for each class it has an event of.</summary>
        internal int Classes { get; set; }

        /// <summary>A bit for each class that it found full: who comes after it does not get past it there.</summary>
        internal int Closes { get; set; }

        /// <summary>Done when it is let in; null when it never had to wait.</summary>
        internal TaskCompletionSource? Entered { get; set; }
    }

    /// <summary>An app's places.</summary>
    internal sealed class AppPlaces(int[] inside)
    {
        /// <summary>How many are taken, by class.</summary>
        internal int[] Inside { get; } = inside;

        /// <summary>Classes that a batch further in front waits for.</summary>
        internal int Awaited { get; set; }
    }
}
