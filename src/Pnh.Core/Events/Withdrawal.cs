namespace Pnh.Core.Events;

/// <summary>An event taken back: what clears it wherever it was shown. Immutable; what is encoded from it is encoded once. Thread-safe.</summary>
/// <param name="App">The event's app.</param>
/// <param name="Event">The event's id.</param>
/// <param name="Reason">Kebab-case: <c>withdrawn</c> or the publisher's word, <c>answered</c>, <c>seen</c>.</param>
/// <param name="At">When it was taken back, also by the previous process: what clears it is tried for so long from then on.</param>
public sealed record Withdrawal(string App, string Event, string Reason, DateTimeOffset At)
{
    /// <summary>Frames and payloads made from it, each made once.</summary>
    public EncodingCache Encodings { get; } = new();
}
