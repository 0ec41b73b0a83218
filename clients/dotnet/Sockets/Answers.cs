namespace Pnh.Client.Sockets;

/// <summary>What the user did with events: said again on each connection until the hub confirms it. Saying it twice is saying it once. Thread-safe.</summary>
internal sealed class Answers
{
    private const int Most = 100;
    private readonly Lock _gate = new();
    private readonly List<Open> _open = [];

    /// <summary>All that the hub may not have.</summary>
    public IReadOnlyList<ClientFrame> Frames
    {
        get
        {
            lock (_gate)
            {
                return [.. _open.Select(static one => one.Frame)];
            }
        }
    }

    /// <summary>Completes with true when the hub has it, with false when it never will.</summary>
    public Task<bool> Add(ClientFrame frame)
    {
        lock (_gate)
        {
            if (_open.Find(one => one.Is(frame.Type, frame.Id!)) is { } known)
            {
                return known.Kept.Task;
            }

            var added = new Open(frame, new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously));
            _open.Add(added);
            if (_open.Count > Most)
            {
                _open[0].Kept.SetResult(false);
                _open.RemoveAt(0);
            }

            return added.Kept.Task;
        }
    }

    /// <summary>The hub has what the client said by a frame of this type of this event.</summary>
    public void Confirm(string type, string id)
    {
        lock (_gate)
        {
            if (_open.Find(one => one.Is(type, id)) is { } kept)
            {
                kept.Kept.SetResult(true);
                _open.Remove(kept);
            }
        }
    }

    /// <summary>Nobody will hear it any more.</summary>
    public void Drop()
    {
        lock (_gate)
        {
            _open.ForEach(static one => one.Kept.SetResult(false));
            _open.Clear();
        }
    }

    private sealed record Open(ClientFrame Frame, TaskCompletionSource<bool> Kept)
    {
        public bool Is(string type, string id) => Frame.Type == type && Frame.Id == id;
    }
}
