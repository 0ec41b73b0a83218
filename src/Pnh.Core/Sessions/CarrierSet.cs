namespace Pnh.Core.Sessions;

/// <summary>
/// Carriers that were given some of an event and get more of it: each is flushed once, when the event has come to all of its sessions. Woken by the first block of sessions, a link sent that block alone and
/// the others after it. Takes no memory without carriers. Not thread-safe.
/// </summary>
internal struct CarrierSet
{
    private List<ISessionCarrier>? _carriers;

    /// <summary>The carrier has to be flushed.</summary>
    public void Add(ISessionCarrier carrier)
    {
        _carriers ??= [];
        if (!_carriers.Contains(carrier))
        {
            _carriers.Add(carrier);
        }
    }

    /// <summary>Flushes all of them.</summary>
    public readonly void Flush() => _carriers?.ForEach(static carrier => carrier.Flush());
}
