namespace Pnh.Channels.Links;

/// <summary>Sessions first, recovery second: who has said its sessions, and whether the hub has recovered. Thread-safe.</summary>
internal sealed class LinkStart(TimeProvider time)
{
    private readonly Lock _gate = new();
    private readonly HashSet<string> _synced = new(StringComparer.Ordinal);
    private readonly List<HubLink> _waiting = [];
    private readonly TaskCompletionSource _allSynced = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private HashSet<string>? _expected;
    private bool _isRecovered;

    /// <summary>Waits until these links have said all their sessions, for <paramref name="most"/> at most.</summary>
    public async Task UntilSyncedAsync(IReadOnlyCollection<string> links, TimeSpan most, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            _expected = [.. links];
            CompleteIfSynced();
        }

        await _allSynced.Task.WaitAsync(most, time, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        cancellationToken.ThrowIfCancellationRequested();
    }

    /// <summary>A link has said its sessions: its edge may go on once the hub has recovered.</summary>
    public void Synced(LinkedEdge linked)
    {
        lock (_gate)
        {
            _synced.Add(linked.Name);
            if (_isRecovered)
            {
                linked.Link.Recovered();
            }
            else
            {
                _waiting.Add(linked.Link);
            }

            CompleteIfSynced();
        }
    }

    /// <summary>The hub has recovered.</summary>
    public void Recovered()
    {
        lock (_gate)
        {
            _isRecovered = true;
            _waiting.ForEach(static link => link.Recovered());
            _waiting.Clear();
        }
    }

    private void CompleteIfSynced()
    {
        if (_expected is not null && _expected.IsSubsetOf(_synced))
        {
            _allSynced.TrySetResult();
        }
    }
}
