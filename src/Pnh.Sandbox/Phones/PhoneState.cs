namespace Pnh.Sandbox.Phones;

/// <summary>A phone as it changes, behind its own lock.</summary>
internal sealed class PhoneState
{
    private readonly Lock _lock = new();
    private readonly List<ShownNotification> _lockScreen = [];
    private readonly List<ClearedNotification> _cleared = [];
    private readonly List<ReceivedPush> _requests = [];
    private readonly string _address;
    private PhonePlatform _platform;
    private volatile string? _name;
    private long _received;

    public PhoneState(string address, PhonePlatform platform)
    {
        _address = address;
        _platform = platform;
    }

    /// <summary>What it was called; null for no name.</summary>
    public string? Name => _name;

    public Phone Snapshot()
    {
        lock (_lock)
        {
            return new Phone(_address, _platform, _name, _received, [.. _lockScreen], [.. _cleared], [.. _requests]);
        }
    }

    public void Rename(string name)
    {
        lock (_lock)
        {
            _name = name;
        }
    }

    public void Arrive(ArrivedPush push, int notificationsKept, int requestsKept)
    {
        lock (_lock)
        {
            _received++;

            // A name was given on a guess; the push knows.
            _platform = push.Platform;
            Prepend(_requests, push.Request, requestsKept);
            if (push.Shown is { } notification)
            {
                // A phone puts the replacement on top, where the eye is, rather than in the old place.
                _lockScreen.RemoveAll(shown => shown.CollapseId is not null && shown.CollapseId == notification.CollapseId);
                Prepend(_lockScreen, notification, notificationsKept);
            }
        }
    }

    /// <summary>Removes what carries the event's id, whatever told the app so; false when nothing did.</summary>
    public bool Clear(Clearing clearing, DateTimeOffset at, int kept)
    {
        lock (_lock)
        {
            List<ShownNotification> gone = _lockScreen.FindAll(shown => shown.EventId == clearing.Event || shown.CollapseId == clearing.Event);
            foreach (ShownNotification shown in gone)
            {
                _lockScreen.Remove(shown);
                Prepend(_cleared, new ClearedNotification(shown, at, clearing.Reason), kept);
            }

            return gone.Count > 0;
        }
    }

    private static void Prepend<T>(List<T> list, T item, int kept)
    {
        list.Insert(0, item);
        if (list.Count > kept)
        {
            list.RemoveAt(kept);
        }
    }
}
