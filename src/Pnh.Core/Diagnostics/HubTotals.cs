using Pnh.Core.Events;
using Pnh.Core.Push;

namespace Pnh.Core.Diagnostics;

/// <summary>Events of one class with one result since the start.</summary>
public readonly record struct EventTotal(EventClass Class, EventResult Result, long Count);

/// <summary>Delivery attempts of one channel with one status since the start.</summary>
public readonly record struct DeliveryTotal(string Channel, DeliveryStatus Status, long Count)
{
    /// <summary>
    /// True for attempts at deliveries. An ack belongs to a frame that was counted as sent, what was suppressed was never tried, and what is unconfirmed was counted attempt by attempt.
    /// </summary>
    public bool IsAttempt => Status is not (DeliveryStatus.Acked or DeliveryStatus.Suppressed or DeliveryStatus.Unconfirmed);
}

/// <summary>The counters at one moment, for the console. Sums since the start of the process, over all apps; rates are the reader's work.</summary>
public sealed record HubTotals
{
    /// <summary>When they were read.</summary>
    public required DateTimeOffset At { get; init; }

    /// <summary>Only what is not zero, by class, then result.</summary>
    public required IReadOnlyList<EventTotal> Events { get; init; }

    /// <summary>Only what is not zero, by channel, then status.</summary>
    public required IReadOnlyList<DeliveryTotal> Deliveries { get; init; }

    /// <summary>Sessions whose app is in front, now.</summary>
    public required long ActiveSessions { get; init; }

    /// <summary>Sessions whose app is in the background, now.</summary>
    public required long BackgroundSessions { get; init; }

    /// <summary>Requests served: accepted events and completed deliveries.</summary>
    public required long Served { get; init; }

    /// <summary>User and system time of the process, in seconds.</summary>
    public required double CpuSeconds { get; init; }

    /// <summary>Requests served per CPU second over the last 60 s; 0 = no CPU measured yet.</summary>
    public required double QFactor { get; init; }

    /// <summary>Durable events that missed their class's deadline.</summary>
    public required long DeadlinesMissed { get; init; }

    /// <summary>99th percentile of the journal's sync over the last 60 s, in seconds; null = there was none.</summary>
    public required double? JournalSyncP99 { get; init; }

    /// <summary>99th percentile from accept to frame over the last 60 s, all classes, in seconds; null = there was none.</summary>
    public required double? AcceptToFrameP99 { get; init; }

    /// <summary>99th percentile of a work item's wait for a pool thread over the last 60 s, in seconds; null = not measured.</summary>
    public required double? ThreadPoolDelayP99 { get; init; }
}
