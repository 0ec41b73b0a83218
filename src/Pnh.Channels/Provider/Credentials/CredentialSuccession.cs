namespace Pnh.Channels.Provider.Credentials;

/// <summary>
/// The credential in use and, after a change, the one before: kept until the provider has taken something of the new one. When the provider refuses the one in use meanwhile, the other takes
/// its place, at most once per <see cref="ConfigurationStop.Pause"/>. Thread-safe.
/// </summary>
/// <typeparam name="T">A credential; those that are dropped are not disposed, as a request may be signing with one, and there are few.</typeparam>
internal sealed class CredentialSuccession<T>(T first, TimeProvider time)
    where T : class
{
    private readonly Lock _gate = new();
    private T _inUse = first;
    private T? _other;
    private T _newest = first;
    private long? _changedAt;

    public T InUse => Volatile.Read(ref _inUse);

    /// <summary>True while the one in use is not the newest.</summary>
    public bool IsFallback => !ReferenceEquals(InUse, _newest);

    /// <summary>Takes a new one into use.</summary>
    /// <param name="next">The new one.</param>
    /// <param name="isRefused">The one in use is refused now, so there is no way back to it.</param>
    public void Take(T next, bool isRefused)
    {
        lock (_gate)
        {
            // Of several that nothing was taken of, the last one before them stays.
            var isProven = _other is null || !ReferenceEquals(_inUse, _newest);
            _other = isProven ? isRefused ? null : _inUse : _other;
            _newest = next;
            _changedAt = null;
            Volatile.Write(ref _inUse, next);
        }
    }

    /// <summary>The provider took a request of that one.</summary>
    public void Accepted(T used)
    {
        if (Volatile.Read(ref _other) is null)
        {
            return;
        }

        lock (_gate)
        {
            if (ReferenceEquals(used, _newest))
            {
                _other = null;
            }
        }
    }

    /// <summary>The provider refused that one; null = one that may not be in use any more. True = another is in use, by this call (<paramref name="isChanged"/>) or by one before.</summary>
    public bool TryFallBack(T? refused, out bool isChanged)
    {
        lock (_gate)
        {
            isChanged = false;
            if (_other is null || !ReferenceEquals(refused, _inUse))
            {
                return _other is not null;
            }

            if (_changedAt is { } at && time.GetElapsedTime(at) < ConfigurationStop.Pause)
            {
                return false;
            }

            (isChanged, _changedAt) = (true, time.GetTimestamp());
            var other = _other;
            _other = _inUse;
            Volatile.Write(ref _inUse, other);
            return true;
        }
    }
}
