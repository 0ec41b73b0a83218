using Pnh.Core.Events;

namespace Pnh.Core.Intake;

/// <summary>
/// The line of batches that uploads bring. A batch has room for all of its events or waits: <see cref="Room"/> events are inside at most, and three quarters of that of one app.
/// First come, first served; an app that has its part is passed by others, and by none of its own. One lock, taken twice a batch. Thread-safe.
/// </summary>
/// <param name="stopping">The hub's stop, at which nobody waits any more.</param>
internal sealed class UploadLine(CancellationToken stopping)
{
    /// <summary>Most events of uploads inside: a flush of the journal takes what waits, and these are 30 ms of work of one core.</summary>
    internal const int Room = 1_024;

    /// <summary>Most of one app: three whole batches.</summary>
    internal const int RoomOfApp = Room / 4 * 3;

    private readonly Lock _gate = new();
    private readonly int[] _ofClass = new int[EventClassNames.All.Length];
    private readonly Dictionary<string, AppRoom> _apps = new(StringComparer.Ordinal);
    private readonly LinkedList<Batch> _waiting = new();
    private int _inside;
    private int _round;

    /// <summary>How many events of the class are inside.</summary>
    internal int Inside(EventClass @class) => Volatile.Read(ref _ofClass[(int)@class]);

    /// <summary>
    /// Completes when the events, all of one app, have room; then <see cref="Leave"/> must follow. Null when the hub stops first. Synchronous when there is room.
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

    /// <summary>Gives the room back.</summary>
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
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(stopping, cancellationToken);
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
        _round++;
        for (var node = _waiting.First; node is not null;)
        {
            var (next, batch) = (node.Next, node.Value);
            if (batch.App.WaitsIn == _round || batch.App.Inside + batch.Size > RoomOfApp)
            {
                batch.App.WaitsIn = _round;
            }
            else if (_inside + batch.Size > Room)
            {
                return; // nobody passes it, or the small batches of others would for ever
            }
            else
            {
                Count(batch, 1);
                _waiting.Remove(node);
                batch.Entered?.TrySetResult();
            }

            node = next;
        }
    }

    private void Count(Batch batch, int sign)
    {
        _inside += sign * batch.Size;
        batch.App.Inside += sign * batch.Size;
        for (var i = 0; i < _ofClass.Length; i++)
        {
            Volatile.Write(ref _ofClass[i], _ofClass[i] + (sign * batch.OfClass[i]));
        }
    }

    private Batch NewBatch(IReadOnlyList<Event> events)
    {
        if (!_apps.TryGetValue(events[0].App, out var app))
        {
            _apps[events[0].App] = app = new AppRoom();
        }

        var ofClass = new int[_ofClass.Length];
        for (var i = 0; i < events.Count; i++)
        {
            ofClass[(int)events[i].Class]++;
        }

        // More than an app ever has counts as all it has, or it would wait for ever.
        return new Batch(app, Math.Min(events.Count, RoomOfApp), ofClass);
    }

    /// <summary>Some events of an upload that go in together.</summary>
    internal sealed class Batch(AppRoom app, int size, int[] ofClass)
    {
        internal AppRoom App { get; } = app;

        /// <summary>Room that it takes.</summary>
        internal int Size { get; } = size;

        internal int[] OfClass { get; } = ofClass;

        /// <summary>Done when it is let in; null when it never had to wait.</summary>
        internal TaskCompletionSource? Entered { get; set; }
    }

    /// <summary>An app's room.</summary>
    internal sealed class AppRoom
    {
        internal int Inside { get; set; }

        /// <summary>The round in which one of its batches was found waiting: those behind it wait too.</summary>
        internal int WaitsIn { get; set; }
    }
}
