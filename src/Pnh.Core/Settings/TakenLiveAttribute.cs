namespace Pnh.Core.Settings;

/// <summary>A setting that a running node takes a change of.</summary>
/// <param name="from">Where the change is looked for.</param>
[AttributeUsage(AttributeTargets.Property)]
public sealed class TakenLiveAttribute(LiveSource from) : Attribute
{
    /// <summary>Where the change is looked for.</summary>
    public LiveSource From { get; } = from;
}

/// <summary>Where a running node looks for a change.</summary>
public enum LiveSource
{
    /// <summary>The setting's text, where it stands in a file: what came by the environment or the command line cannot change in a running process.</summary>
    Text,

    /// <summary>The content of the file that it names, and its text.</summary>
    File,
}
