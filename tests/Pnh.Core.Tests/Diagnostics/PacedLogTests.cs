using Microsoft.Extensions.Logging;
using Pnh.Core.Diagnostics;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Diagnostics;

public sealed class PacedLogTests : ILogger
{
    private readonly FakeTimeProvider _time = new();
    private readonly List<string> _lines = [];
    private readonly PacedLog _log;

    public PacedLogTests() => _log = new PacedLog(this, _time);

    [Fact]
    public void Log_SameKindWithinASecond_IsCountedInTheNextLine()
    {
        for (var i = 0; i < 100; i++)
        {
            Say(LogLevel.Error, 1, $"broke {i}");
        }

        Assert.Equal(["broke 0"], _lines);
        _time.Advance(TimeSpan.FromSeconds(1));
        Say(LogLevel.Error, 1, "broke again");
        Say(LogLevel.Error, 1, "and again");
        _time.Advance(TimeSpan.FromSeconds(1));
        Say(LogLevel.Error, 1, "once more");

        Assert.Equal(["broke 0", "broke again (99 more like it since the last line)", "once more (1 more like it since the last line)"], _lines);
    }

    [Fact]
    public void Log_OtherKindsAndWhatIsNotLoud_PassAsTheyAre()
    {
        Say(LogLevel.Warning, 1, "a");
        Say(LogLevel.Warning, 2, "b");
        Say(LogLevel.Warning, 1, "c", "another name");
        for (var i = 0; i < 3; i++)
        {
            Say(LogLevel.Information, 1, "d");
        }

        Assert.Equal(["a", "b", "c", "d", "d", "d"], _lines);
    }

    [Fact]
    public void Log_LinesThatNameAnApp_AreCountedForEach_AHundredApps()
    {
        for (var i = 0; i < 3; i++)
        {
            SayOf("big", "refused");
            SayOf("small", "refused");
        }

        Assert.Equal(["big refused", "small refused"], _lines);
        _time.Advance(TimeSpan.FromSeconds(1));
        SayOf("small", "refused");
        Assert.Equal("small refused (2 more like it since the last line)", _lines[^1]);
        _lines.Clear();
        for (var i = 0; i < 120; i++)
        {
            SayOf($"app-{i}", "refused");
        }

        Assert.Equal(99, _lines.Count); // 98 besides the two, and one of all the others
    }

    private void SayOf(string app, string text) => _log.Log(
        LogLevel.Warning, new EventId(7, "Refused"), (IReadOnlyList<KeyValuePair<string, object?>>)[new("Reason", text), new("App", app)], null, (_, _) => $"{app} {text}");

    [Fact]
    public async Task Log_ManyThreads_OneOfThemSays()
    {
        await Task.WhenAll(Enumerable.Range(0, 16).Select(_ => Task.Run(() =>
        {
            for (var i = 0; i < 1_000; i++)
            {
                Say(LogLevel.Error, 1, "x");
            }
        })));
        _time.Advance(TimeSpan.FromSeconds(1));
        Say(LogLevel.Error, 1, "y");

        Assert.Equal(["x", "y (15999 more like it since the last line)"], _lines);
    }

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    void ILogger.Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        lock (_lines)
        {
            _lines.Add(formatter(state, exception));
        }
    }

    private void Say(LogLevel level, int id, string text, string? name = null) =>
        _log.Log(level, new EventId(id, name), text, null, static (said, _) => said);
}
