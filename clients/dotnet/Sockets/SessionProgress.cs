namespace Pnh.Client.Sockets;

/// <summary>What outlives a connection: the session, and how far its events were handled.</summary>
internal sealed class SessionProgress(PnhSessionOptions options)
{
    /// <summary>Null = there was none yet.</summary>
    public string? Session { get; private set; }

    public SessionEvents Events { get; } = new(options);

    public Answers Answers { get; } = new();

    /// <summary>The session is open.</summary>
    public void Opened(string session, long seq, bool isResumed)
    {
        Session = session;
        if (!isResumed)
        {
            Events.StartAt(seq);
        }
    }
}
