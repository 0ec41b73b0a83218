using Pnh.Channels.Net.Http;

namespace Pnh.Channels.Provider.Connections;

/// <summary>A request that was not answered within its attempt's time and is still under way, with its place on the connection.</summary>
internal sealed record LateRequest(AnswerWait Wait, ProviderRequest Request, ConnectionPlace Place);

/// <summary>How many requests of a trunk may be waited for past their time: each keeps a stream and a place. Thread-safe.</summary>
internal sealed class LateRequests(int most)
{
    /// <summary>How long past its time a request is waited for; the hub's next attempt comes no sooner.</summary>
    public static readonly TimeSpan Longest = TimeSpan.FromSeconds(30);

    private int _count;

    /// <summary>False: there are too many, and this one has to end now.</summary>
    public bool TryAdd()
    {
        if (Interlocked.Increment(ref _count) <= most)
        {
            return true;
        }

        Remove();
        return false;
    }

    public void Remove() => Interlocked.Decrement(ref _count);
}
