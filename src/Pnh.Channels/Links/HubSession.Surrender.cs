using Pnh.Channels.Links.Protocol;

namespace Pnh.Channels.Links;

/// <summary>How a session is given away to another node.</summary>
internal sealed partial class HubSession
{
    /// <inheritdoc/>
    public async ValueTask<IReadOnlyList<string>?> SurrenderAsync(string session, long seq)
    {
        if (!IsThis(session))
        {
            return null;
        }

        var surrendered = new TaskCompletionSource<IReadOnlyList<string>?>(TaskCreationOptions.RunContinuationsAsynchronously);
        if (Interlocked.CompareExchange(ref _surrendered, surrendered, null) is not null)
        {
            return null; // two clients ask for it
        }

        using (var item = _link.Output.Begin(LinkItemKind.Surrender))
        {
            item.Members.Number(Handle).Number(seq);
        }

        if (_link.IsEnded)
        {
            surrendered.TrySetResult(null); // nobody answers
        }

        try
        {
            return await surrendered.Task.WaitAsync(SurrenderWithin, _link.Time);
        }
        catch (TimeoutException)
        {
            return null; // its edge hangs: the client gets a new session
        }
        finally
        {
            Volatile.Write(ref _surrendered, null);
        }
    }

    private void Surrendered(List<string>? topics)
    {
        var isAwaited = Volatile.Read(ref _surrendered)?.TrySetResult(topics) == true;
        if (topics is null)
        {
            return;
        }

        if (isAwaited)
        {
            _link.Forget(this);
            Supersede();
        }
        else
        {
            EndSession(); // it was given away too late: nobody takes it
        }
    }
}
