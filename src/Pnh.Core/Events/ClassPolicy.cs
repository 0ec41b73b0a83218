namespace Pnh.Core.Events;

/// <summary>The times of one class. All are options; the defaults are the design's.</summary>
/// <param name="Ttl">How long an event lives when it does not say; zero = now or never.</param>
/// <param name="AckWithin">How long a socket may take to acknowledge before a push goes out as well.</param>
/// <param name="PushAfter">How long a device without a session waits for another, active device of the user to acknowledge first; zero = not at all.</param>
public sealed record ClassPolicy(TimeSpan Ttl, TimeSpan AckWithin, TimeSpan PushAfter);

/// <summary>A policy per class. Immutable.</summary>
public sealed class ClassPolicies
{
    private readonly ClassPolicy[] _byClass;

    /// <summary>With one policy per class, in the order of <see cref="EventClass"/>.</summary>
    public ClassPolicies(ClassPolicy call, ClassPolicy message, ClassPolicy bulk, ClassPolicy transient) =>
        _byClass = [call, message, bulk, transient];

    /// <summary>The design's defaults.</summary>
    public static ClassPolicies Default { get; } = new(
        new ClassPolicy(TimeSpan.FromSeconds(30), TimeSpan.FromMilliseconds(500), TimeSpan.Zero),
        new ClassPolicy(TimeSpan.FromHours(24), TimeSpan.FromSeconds(3), TimeSpan.FromSeconds(2)),
        new ClassPolicy(TimeSpan.FromHours(6), TimeSpan.FromSeconds(30), TimeSpan.Zero),
        new ClassPolicy(TimeSpan.FromSeconds(10), TimeSpan.Zero, TimeSpan.Zero));

    /// <summary>The policy of a class.</summary>
    public ClassPolicy this[EventClass @class] => _byClass[(int)@class];
}
