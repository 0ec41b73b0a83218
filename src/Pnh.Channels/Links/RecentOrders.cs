namespace Pnh.Channels.Links;

/// <summary>
/// What the hub ordered the sessions of a connection in the last seconds: withdrawals and closes. When the connection breaks nobody knows which of them the edge has, so they are said again on its next one:
/// both do nothing the second time. Thread-safe.
/// </summary>
internal sealed class RecentOrders(TimeProvider time)
{
    // Silence ends a connection after 3 s, and bytes arrive in order: what is older has arrived.
    private static readonly TimeSpan Kept = TimeSpan.FromSeconds(15);
    private readonly Dictionary<long, Queue<Action<HubSession>>> _orders = [];
    private readonly Queue<(long At, long Handle)> _ages = new();

    /// <summary>The session of this number was ordered something.</summary>
    public void Add(long handle, Action<HubSession> say)
    {
        var now = time.GetTimestamp();
        lock (_orders)
        {
            while (_ages.TryPeek(out var oldest) && time.GetElapsedTime(oldest.At, now) > Kept)
            {
                Forget(_ages.Dequeue().Handle);
            }

            _ages.Enqueue((now, handle));
            if (!_orders.TryGetValue(handle, out var orders))
            {
                _orders.Add(handle, orders = new());
            }

            orders.Enqueue(say);
        }
    }

    /// <summary>Says it again to the session, which is that of a newer connection and is the hub's from now on.</summary>
    public void SayAgain(HubSession session)
    {
        Action<HubSession>[] orders;
        lock (_orders)
        {
            orders = _orders.TryGetValue(session.Handle, out var found) ? [.. found] : [];
        }

        foreach (var say in orders)
        {
            say(session);
        }
    }

    private void Forget(long handle)
    {
        var orders = _orders[handle];
        orders.Dequeue();
        if (orders.Count == 0)
        {
            _orders.Remove(handle);
        }
    }
}
