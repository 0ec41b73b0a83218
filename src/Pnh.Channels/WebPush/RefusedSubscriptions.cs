namespace Pnh.Channels.WebPush;

/// <summary>
/// Whose fault a 401 or 403 is. A push service answers so to one subscription that is stale, and to every one when it does not take the account. While it takes pushes of the account, those that it refuses are at fault
/// themselves; when a few different ones in a row are refused and none is taken between them, the account is. Thread-safe.
/// </summary>
internal sealed class RefusedSubscriptions
{
    /// <summary>So many different ones in a row are stale by themselves.</summary>
    public const int MostInARow = 5;

    private readonly HashSet<int> _inARow = [];
    private volatile bool _hasAccepted;
    private volatile bool _isAny;

    /// <summary>The push service took a push of the account.</summary>
    public void Accepted()
    {
        _hasAccepted = true;
        if (_isAny)
        {
            lock (_inARow)
            {
                _inARow.Clear();
                _isAny = false;
            }
        }
    }

    /// <summary>It refused this subscription; true = the account may be at fault.</summary>
    public bool MayBeAccounts(Uri endpoint)
    {
        lock (_inARow)
        {
            if (_inARow.Count <= MostInARow)
            {
                _inARow.Add(string.GetHashCode(endpoint.AbsoluteUri, StringComparison.Ordinal));
            }

            _isAny = true;
            return !_hasAccepted || _inARow.Count > MostInARow;
        }
    }
}
