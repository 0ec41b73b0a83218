namespace Pnh.Client.Sockets;

/// <summary>What the app wants of the session, and what the hub knows of it. Thread-safe.</summary>
internal sealed class Wants(bool isActive)
{
    private readonly Lock _gate = new();
    private readonly HashSet<string> _topics = new(StringComparer.Ordinal);
    private readonly HashSet<string> _joined = new(StringComparer.Ordinal);
    private bool _isActive = isActive;
    private bool _isKnownActive;

    public bool IsActive
    {
        set
        {
            lock (_gate)
            {
                _isActive = value;
            }
        }
    }

    public void Join(IEnumerable<string> topics)
    {
        lock (_gate)
        {
            _topics.UnionWith(topics);
        }
    }

    public void Leave(IEnumerable<string> topics)
    {
        lock (_gate)
        {
            _topics.ExceptWith(topics);
        }
    }

    /// <summary>The state that a hello says; the hub knows it then.</summary>
    public string SayHello()
    {
        lock (_gate)
        {
            _isKnownActive = _isActive;
            return StateOf(_isActive);
        }
    }

    /// <summary>A session that was not resumed is in no topics.</summary>
    public void Opened(bool isResumed)
    {
        lock (_gate)
        {
            if (!isResumed)
            {
                _joined.Clear();
            }
        }
    }

    /// <summary>The frames that tell the hub what it does not know yet. It knows it then.</summary>
    public List<ClientFrame> TakeNews()
    {
        var news = new List<ClientFrame>();
        lock (_gate)
        {
            string[] joins = [.. _topics.Except(_joined)];
            string[] leaves = [.. _joined.Except(_topics)];
            if (joins.Length > 0)
            {
                news.Add(new ClientFrame("join", Topics: joins));
            }

            if (leaves.Length > 0)
            {
                news.Add(new ClientFrame("leave", Topics: leaves));
            }

            if (_isActive != _isKnownActive)
            {
                news.Add(new ClientFrame("state", State: StateOf(_isActive)));
            }

            _joined.UnionWith(joins);
            _joined.ExceptWith(leaves);
            _isKnownActive = _isActive;
        }

        return news;
    }

    private static string StateOf(bool isActive) => isActive ? "active" : "background";
}
