namespace Pnh.Core.Push;

/// <summary>When a push goes out.</summary>
public enum PushTiming
{
    /// <summary>Not at all.</summary>
    Never,

    /// <summary>At once.</summary>
    Now,

    /// <summary>After the delay, unless this device acknowledged.</summary>
    UnlessAcked,

    /// <summary>After the delay, unless any device of the user acknowledged.</summary>
    UnlessAckedElsewhere,

    /// <summary>When quiet hours or "do not disturb" end: planned anew then.</summary>
    AfterQuiet,
}
