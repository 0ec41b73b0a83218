using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Benchmarks;

/// <summary>A session that takes everything and does nothing, so that only the hub's own part is measured. One per session, as on a hub.</summary>
internal sealed class NullLink : ISessionLink
{
    public bool TrySend(string session, Event accepted) => true;

    public bool TryReplay(string session, Event accepted) => true;

    public bool TryWithdraw(string session, Withdrawal withdrawal) => true;

    public void Close(string session, SessionClose reason)
    {
    }
}
