using Pnh.Client.Reports;

namespace Pnh.Client.Sockets;

/// <summary>What the app wants of the session, and what the hub knows of it. Thread-safe.</summary>
internal sealed class Wants(bool isActive, int beat)
{
    private readonly Lock _gate = new();
    private readonly Topics _topics = new();
    private const int CallBeat = 10;
    private bool _expectsCalls;
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

    /// <summary>A connection that died in silence is found sooner then.</summary>
    public bool ExpectsCalls
    {
        get => Volatile.Read(ref _expectsCalls);
        set => Volatile.Write(ref _expectsCalls, value);
    }

    /// <summary>Seconds.</summary>
    public int Beat => ExpectsCalls ? Math.Min(CallBeat, beat) : beat;

    public IReadOnlyCollection<string> Joined
    {
        get
        {
            lock (_gate)
            {
                return _topics.Joined;
            }
        }
    }

    public void Join(IReadOnlyCollection<string> topics)
    {
        Topics.Check(topics);
        lock (_gate)
        {
            _topics.Want(topics);
        }
    }

    public void Leave(IEnumerable<string> topics)
    {
        lock (_gate)
        {
            _topics.Drop(topics);
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

    public void Opened(HubFrame welcome)
    {
        lock (_gate)
        {
            _topics.Welcome(welcome);
        }
    }

    /// <summary>The hub has answered a join. Gives what it refused.</summary>
    public List<PnhException> Answered(HubFrame answer)
    {
        lock (_gate)
        {
            return _topics.Answer(answer);
        }
    }

    /// <summary>The frames that tell the hub what it does not know yet. It knows the state then.</summary>
    public List<ClientFrame> TakeNews()
    {
        lock (_gate)
        {
            var news = _topics.Say();
            if (_isActive != _isKnownActive)
            {
                news.Add(new ClientFrame("state", State: StateOf(_isActive)));
            }

            _isKnownActive = _isActive;
            return news;
        }
    }

    private static string StateOf(bool isActive) => isActive ? "active" : "background";
}
