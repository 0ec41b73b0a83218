using Pnh.Core.Threads;

namespace Pnh.Core.Intake;

/// <summary>
/// Places of callers who read history: each takes a core while it reads, and nothing of it is urgent. An app has two, all together have four, and apps take turns, so that one app's
/// readers delay neither events nor another app's readers. A page is read on threads of their own. A place is held while a page is read, not while the caller takes it. Thread-safe.
/// </summary>
/// <param name="time">Measures how long a reader waits.</param>
public sealed class ReaderPlaces(TimeProvider time)
{
    /// <summary>Most pages that are read at once.</summary>
    internal const int All = 4;

    /// <summary>Most of one app.</summary>
    internal const int OfApp = 2;

    /// <summary>How long a reader waits for its turn.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(1);

    private readonly BackgroundThreads _threads = new("pnh reader", All);
    private readonly Lock _gate = new();
    private readonly Dictionary<string, AppPlaces> _apps = new(StringComparer.Ordinal);

    // Apps with a reader that waits, the one whose turn is next first.
    private readonly LinkedList<AppPlaces> _turns = new();
    private int _taken;

    /// <summary>Reads a page when it is the app's turn. <c>IsRead</c> is false, and nothing was read, when none came within a second.</summary>
    /// <typeparam name="T">The page.</typeparam>
    /// <param name="app">Whose reader.</param>
    /// <param name="read">Reads the page.</param>
    /// <param name="cancellationToken">Ends the wait and the read.</param>
    public async ValueTask<(bool IsRead, T Page)> ReadAsync<T>(string app, Func<CancellationToken, ValueTask<T>> read, CancellationToken cancellationToken)
    {
        if (!await EnterAsync(app, cancellationToken).ConfigureAwait(false))
        {
            return (false, default!);
        }

        try
        {
            return (true, await _threads.RunAsync(() => read(cancellationToken).AsTask(), cancellationToken).ConfigureAwait(false));
        }
        finally
        {
            Leave(app);
        }
    }

    /// <summary>Writes what was read, on the readers' threads and without a place: it waits for its caller.</summary>
    public Task WriteAsync(Func<Task> write) => _threads.RunAsync(
        async () =>
        {
            await write();
            return true;
        },
        CancellationToken.None);

    /// <summary>True = the reader has a place, and <see cref="Leave"/> must follow.</summary>
    internal ValueTask<bool> EnterAsync(string app, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (!_apps.TryGetValue(app, out var places))
            {
                _apps[app] = places = new AppPlaces();
            }

            if (places.Taken < OfApp && _taken < All)
            {
                Take(places);
                return ValueTask.FromResult(true);
            }

            var reader = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            var node = places.Waiting.AddLast(reader);
            if (!places.IsInTurn)
            {
                places.IsInTurn = true;
                _turns.AddLast(places);
            }

            return WaitAsync(places, node, cancellationToken);
        }
    }

    /// <summary>Gives a place back.</summary>
    internal void Leave(string app)
    {
        lock (_gate)
        {
            _apps[app].Taken--;
            _taken--;
            LetIn();
        }
    }

    private async ValueTask<bool> WaitAsync(AppPlaces places, LinkedListNode<TaskCompletionSource> node, CancellationToken cancellationToken)
    {
        try
        {
            await node.Value.Task.WaitAsync(Patience, time, cancellationToken).ConfigureAwait(false);
            return true;
        }
        catch (Exception late) when (late is TimeoutException or OperationCanceledException)
        {
            if (IsLetIn(places, node))
            {
                return true; // at the same moment
            }

            cancellationToken.ThrowIfCancellationRequested();
            return false;
        }
    }

    // Else it waits no more.
    private bool IsLetIn(AppPlaces places, LinkedListNode<TaskCompletionSource> node)
    {
        lock (_gate)
        {
            if (node.List is null)
            {
                return true;
            }

            places.Waiting.Remove(node);
            return false;
        }
    }

    private void LetIn()
    {
        for (var node = _turns.First; node is not null && _taken < All;)
        {
            var (next, places) = (node.Next, node.Value);
            if (places.Waiting.First is null)
            {
                places.IsInTurn = false;
                _turns.Remove(node);
            }
            else if (places.Taken < OfApp)
            {
                var reader = places.Waiting.First.Value;
                places.Waiting.RemoveFirst();
                Take(places);

                // Behind the others: its next reader waits for theirs.
                _turns.Remove(node);
                _turns.AddLast(node);
                reader.SetResult();
            }

            node = next;
        }
    }

    private void Take(AppPlaces places)
    {
        places.Taken++;
        _taken++;
    }

    private sealed class AppPlaces
    {
        public LinkedList<TaskCompletionSource> Waiting { get; } = new();

        public int Taken { get; set; }

        public bool IsInTurn { get; set; }
    }
}
