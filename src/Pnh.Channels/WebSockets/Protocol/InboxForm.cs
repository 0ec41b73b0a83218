using Pnh.Core.Events;

namespace Pnh.Channels.WebSockets.Protocol;

/// <summary>An event as the inbox gives it: the members of its <c>event</c> frame without <c>type</c> and <c>seq</c>. Pure functions.</summary>
public static class InboxForm
{
    /// <summary>One JSON object in UTF-8, in an array of its own. Throws for a transient event: it is in no mailbox.</summary>
    public static byte[] Of(Event accepted)
    {
        if (!accepted.IsDurable)
        {
            throw new ArgumentException("A transient event is in no mailbox.", nameof(accepted));
        }

        // The frame's tail continues the object that its head opens; here it is the whole object.
        var form = EventFrames.Of(accepted).Tail.ToArray();
        form[0] = (byte)'{';
        return form;
    }
}
