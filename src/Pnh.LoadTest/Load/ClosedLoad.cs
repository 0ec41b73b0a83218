using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Load;

/// <summary>Closed loop: every publisher has one event in flight and sends the next when it is answered.</summary>
internal sealed class ClosedLoad : ILoad
{
    private readonly Publishers _publishers;
    private readonly Func<int, (Template Template, int Stream)> _next;

    /// <param name="publishers">Who send.</param>
    /// <param name="next">What a publisher sends next, by its number; only streams that are its own.</param>
    public ClosedLoad(Publishers publishers, Func<int, (Template Template, int Stream)> next)
    {
        _publishers = publishers;
        _next = next;
    }

    public bool IsQuiet => _publishers.IsQuiet;

    public void Start()
    {
        _publishers.Endless = _next;
        _publishers.Start();
    }

    public void Stop() => _publishers.Endless = null;
}
