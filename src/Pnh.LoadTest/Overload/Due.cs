namespace Pnh.LoadTest.Overload;

/// <summary>An event that should be sent. Times are Stopwatch ticks.</summary>
/// <param name="Recorder">Of its phase.</param>
/// <param name="Class">Position in the mix.</param>
/// <param name="User">For whom.</param>
/// <param name="Time">When it was due.</param>
/// <param name="Obey">A publisher that was refused its class keeps it back as long as Retry-After says: the event is not sent at all then.</param>
internal readonly record struct Due(Recorder Recorder, int Class, int User, long Time, bool Obey);
