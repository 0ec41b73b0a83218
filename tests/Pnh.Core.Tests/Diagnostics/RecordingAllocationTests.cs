using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Sessions;

namespace Pnh.Core.Tests.Diagnostics;

/// <summary>Recording stands on the hot path: 0 bytes, whatever is recorded.</summary>
public sealed class RecordingAllocationTests
{
    [Fact]
    public void Record_AllInstruments_AllocatesNothing()
    {
        using var metrics = new HubMetrics(Prometheus.Metrics.NewCustomRegistry(), TimeProvider.System, ["demo", "shop"]);
        var answers = new RequestMetrics(Prometheus.Metrics.NewCustomRegistry()).OfEvents;
        RecordAll(metrics, answers, 200);

        // The first record on a core makes that core's cells, whenever the system moves the thread there: once each.
        var least = long.MaxValue;
        for (var round = 0; round < 3; round++)
        {
            var before = GC.GetAllocatedBytesForCurrentThread();
            RecordAll(metrics, answers, 10_000);
            least = Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - before);
        }

        Assert.Equal(0, least);
    }

    private static void RecordAll(HubMetrics metrics, RouteMetrics answers, int times)
    {
        for (var i = 0; i < times; i++)
        {
            var time = TimeSpan.FromMicroseconds(i * 7);
            metrics.EventCounted("demo", EventClass.Message, EventResult.Accepted);
            metrics.EventCounted("unknown", EventClass.Call, EventResult.Invalid);
            metrics.DeliveryCounted("websocket", EventClass.Message, DeliveryStatus.Sent);
            metrics.AcceptToFrame(EventClass.Message, time);
            metrics.AcceptToProvider("fcm", EventClass.Bulk, time);
            metrics.Acked(EventClass.Message, time);
            metrics.JournalSynced(time);
            metrics.DeadlineMissed(EventClass.Call);
            metrics.RequestServed();
            answers.Answered(202, time);
            metrics.SessionsChanged(SessionState.Active, 1);
            metrics.ThreadPoolDelay(time);
        }
    }
}
