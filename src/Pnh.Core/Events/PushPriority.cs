namespace Pnh.Core.Events;

/// <summary>How urgently a provider is asked to bring a push, apart from the event's class, which says how the hub treats it.</summary>
public enum PushPriority : byte
{
    /// <summary>As the class and what is shown ask for.</summary>
    ByClass,

    /// <summary>At once, also to a phone that dozes.</summary>
    Now,

    /// <summary>When it suits the phone's battery.</summary>
    Saving,
}

/// <summary>How far a notification may interrupt (Apple: UNNotificationInterruptionLevel). Android has no such thing for a single notification; its nearest is the notification's priority.</summary>
public enum Interruption : byte
{
    /// <summary>In the list, without sound or light.</summary>
    Passive,

    /// <summary>As usual.</summary>
    Active,

    /// <summary>Also through a focus.</summary>
    TimeSensitive,

    /// <summary>Also through a muted phone. Apple gives apps that right one by one.</summary>
    Critical,
}

/// <summary>Their words in JSON.</summary>
public static class PushWords
{
    /// <summary>As in the event, and as Apple writes it.</summary>
    public static string Label(this Interruption interruption) => interruption switch
    {
        Interruption.Passive => "passive",
        Interruption.Active => "active",
        Interruption.TimeSensitive => "time-sensitive",
        Interruption.Critical => "critical",
        _ => throw new ArgumentOutOfRangeException(nameof(interruption), interruption, null),
    };

    /// <summary>Null = no such word.</summary>
    public static Interruption? ParseInterruption(string word) => Enum.GetValues<Interruption>().Cast<Interruption?>().FirstOrDefault(one => one!.Value.Label() == word);

    /// <summary>Null = no such word.</summary>
    public static PushPriority? ParsePriority(string word) => word switch
    {
        "now" => PushPriority.Now,
        "saving" => PushPriority.Saving,
        _ => null,
    };
}
