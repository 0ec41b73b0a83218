using System.Text.Json;
using Pnh.Api.WebConsole;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.TestKit;

namespace Pnh.Api.Tests.ConsolePage;

/// <summary>The charts' points.</summary>
public sealed class LastHourTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();
    private readonly FakeTimeProvider _time = new();
    private long _accepted;

    private string FilePath => _folder["console.hour"];

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Write_EventsCame_HasTheirRateTheSessionsAndTheCpu()
    {
        using var hour = Open();
        _accepted = 50;
        _time.Advance(LastHour.Step);

        var point = Assert.Single(Points(hour));

        Assert.Equal(_time.GetUtcNow().ToUnixTimeSeconds(), point[0]);
        Assert.Equal([null, 0.1, 7, 5, 10, 0.003], point[1..]);
    }

    [Fact]
    public void Write_LongerThanAnHour_HasTheLastHour()
    {
        using var hour = Open();
        Advance(400);

        var points = Points(hour);

        Assert.Equal(360, points.Count);
        Assert.Equal(_time.GetUtcNow().ToUnixTimeSeconds(), points[^1][0]);
    }

    [Fact]
    public void Write_AfterARestart_HasTheHourBeforeAndAGap()
    {
        using (var hour = Open())
        {
            _accepted = 10;
            Advance(3);
        }

        _accepted = 0; // a process counts from zero
        _time.Advance(TimeSpan.FromMinutes(10));
        using var again = Open();
        _accepted = 20;
        _time.Advance(LastHour.Step);

        var points = Points(again);

        Assert.Equal([1, 0, 0, 2], points.Select(static point => point[4]));
        Assert.Equal(610, points[3][0] - points[2][0]);
        _time.Advance(LastHour.Reach);
        using var late = Open();
        Assert.Empty(Points(late));
    }

    [Fact]
    public void Take_ProcessIsKilled_HasWrittenEachMinute()
    {
        using var killed = Open();
        Advance(7);

        using var next = Open();

        Assert.Equal(6, Points(next).Count);
    }

    [Theory]
    [InlineData("")]
    [InlineData("1767225600 1 2 3\n")]
    [InlineData("now - 1 1 1 1 1\n-5 1 1 1 1 1 1\n99999999999999999 1 1 1 1 1 1\n1767225600 NaN 1 1 1 1 1\n1767225600 1 x 1 1 1 1")]
    public void Open_FileIsDamaged_BeginsAnew(string text)
    {
        File.WriteAllText(FilePath, text);

        using var hour = Open();
        Advance(1);

        Assert.Single(Points(hour));
    }

    [Fact]
    public void Take_FileCannotBeWritten_GoesOnInMemory()
    {
        Directory.CreateDirectory(FilePath);

        using var hour = Open();
        Advance(7);

        Assert.Equal(7, Points(hour).Count);
    }

    private static List<double?[]> Points(LastHour hour)
    {
        using var stream = new MemoryStream();
        using (var json = new Utf8JsonWriter(stream))
        {
            hour.Write(json);
        }

        var answer = JsonDocument.Parse(stream.ToArray()).RootElement;
        Assert.Equal(10, answer.GetProperty("step").GetDouble());
        return answer.GetProperty("points").Deserialize<List<double?[]>>()!;
    }

    private void Advance(int steps)
    {
        for (var n = 0; n < steps; n++)
        {
            _time.Advance(LastHour.Step);
        }
    }

    private LastHour Open() => new(Totals, FilePath, _time);

    private HubTotals Totals() => new()
    {
        At = _time.GetUtcNow(),
        Events = [new EventTotal(EventClass.Call, EventResult.Accepted, _accepted), new EventTotal(EventClass.Call, EventResult.Invalid, 1_000)],
        Deliveries = [new DeliveryTotal("websocket", DeliveryStatus.Sent, 2 * _accepted), new DeliveryTotal("websocket", DeliveryStatus.Acked, _accepted)],
        ActiveSessions = 4,
        BackgroundSessions = 3,
        Served = 0,
        CpuSeconds = _time.GetUtcNow().ToUnixTimeSeconds() / 10.0,
        QFactor = 0,
        DeadlinesMissed = 0,
        JournalSyncP99 = null,
        AcceptToFrameP99 = 0.003,
        ThreadPoolDelayP99 = null,
    };
}
