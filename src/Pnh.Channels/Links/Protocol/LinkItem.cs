namespace Pnh.Channels.Links.Protocol;

/// <summary>An item that is being written into a queue.</summary>
internal ref struct LinkItem
{
    private readonly LinkQueue _queue;
    private Lock.Scope _scope;

    internal LinkItem(LinkQueue queue, LinkWriter members, Lock.Scope scope)
    {
        _queue = queue;
        Members = members;
        _scope = scope;
    }

    /// <summary>Takes the item's members.</summary>
    public LinkWriter Members { get; }

    /// <summary>Ends the item.</summary>
    public void Dispose()
    {
        try
        {
            _queue.Finish(Members);
        }
        finally
        {
            _scope.Dispose();
        }
    }
}
