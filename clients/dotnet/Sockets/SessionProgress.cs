namespace Pnh.Client.Sockets;

/// <summary>What outlives a connection: the session, and how far its events were handled. One thread at a time.</summary>
internal sealed class SessionProgress(PnhSessionOptions options)
{
    private const int AttemptsOfHandler = 3;
    private readonly HandledIds _handled = new(options.Time);
    private readonly Dictionary<string, int> _failures = new(StringComparer.Ordinal);

    /// <summary>Null = there was none yet.</summary>
    public string? Session { get; private set; }

    /// <summary>Everything up to it was handled.</summary>
    public long HandledSeq { get; private set; }

    /// <summary>The session is open.</summary>
    public void Opened(string session, long seq, bool isResumed)
    {
        Session = session;
        HandledSeq = isResumed ? HandledSeq : seq;
    }

    /// <summary>Gives an event to its handler, or a withdrawal. False = it shall come again.</summary>
    public async ValueTask<bool> TryHandleAsync(HubFrame frame, CancellationToken cancellationToken)
    {
        if (frame.Type == "withdraw")
        {
            if (options.OnWithdraw is { } told)
            {
                await told(new PnhWithdrawal(frame.Id!, frame.Reason ?? ""), cancellationToken).ConfigureAwait(false);
            }
        }
        else if (!_handled.Has(frame.Id!) && !await TryHandleAsync(frame.ToMessage(), cancellationToken).ConfigureAwait(false))
        {
            return false;
        }

        HandledSeq = frame.Seq ?? HandledSeq;
        return true;
    }

    private async ValueTask<bool> TryHandleAsync(PnhMessage message, CancellationToken cancellationToken)
    {
        try
        {
            await options.OnEvent(message, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception fault) when (!cancellationToken.IsCancellationRequested)
        {
            options.OnError?.Invoke(fault);
            var failures = _failures.GetValueOrDefault(message.Id) + 1;
            _failures[message.Id] = failures;
            if (failures < AttemptsOfHandler && message.Seq is not null)
            {
                return false;
            }
        }

        _failures.Remove(message.Id);
        _handled.Add(message);
        return true;
    }
}
