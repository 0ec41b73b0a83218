namespace Pnh.Channels.Provider.Sender;

/// <summary>
/// Keeps retries below a tenth of the requests: each first request earns a tenth of a retry, so that a provider in trouble is never asked much more than a
/// healthy one. A small reserve lets a quiet account retry too. Thread-safe.
/// </summary>
internal sealed class RetryBudget
{
    /// <summary>First requests for one retry.</summary>
    public const int RequestsPerRetry = 10;

    /// <summary>Retries that may be saved up.</summary>
    public const int Reserve = 10;

    private int _earned = Reserve * RequestsPerRetry;

    /// <summary>A first request is made.</summary>
    public void Earn()
    {
        int seen;
        do
        {
            seen = Volatile.Read(ref _earned);
            if (seen >= Reserve * RequestsPerRetry)
            {
                return;
            }
        }
        while (Interlocked.CompareExchange(ref _earned, seen + 1, seen) != seen);
    }

    /// <summary>True, and it is paid for, when a retry may be made.</summary>
    public bool TrySpend()
    {
        int seen;
        do
        {
            seen = Volatile.Read(ref _earned);
            if (seen < RequestsPerRetry)
            {
                return false;
            }
        }
        while (Interlocked.CompareExchange(ref _earned, seen - RequestsPerRetry, seen) != seen);
        return true;
    }
}
