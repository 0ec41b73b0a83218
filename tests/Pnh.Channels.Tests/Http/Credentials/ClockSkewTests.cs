using Microsoft.Extensions.Logging;
using Pnh.Channels.Provider.Connections;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Http.Credentials;

public sealed class ClockSkewTests : ILogger
{
    private readonly FakeTimeProvider _time = new();
    private readonly List<LogLevel> _logged = [];

    [Fact]
    public void Note_AnHourAhead_OneAlarmAndOneAllClear()
    {
        var clock = new ClockSkew("apns", _time, this);
        clock.Note("Thu, 01 Jan 2026 00:00:01 GMT");
        Assert.Empty(_logged);

        _time.Advance(TimeSpan.FromHours(1));
        clock.Note("Thu, 01 Jan 2026 00:00:02 GMT");
        clock.Note("Thu, 01 Jan 2026 00:00:02 GMT");
        clock.Note("no date");

        Assert.Equal(TimeSpan.FromSeconds(3598), clock.Skew);
        Assert.Equal([LogLevel.Error], _logged);
        clock.Note("Thu, 01 Jan 2026 01:00:00 GMT");
        Assert.Equal([LogLevel.Error, LogLevel.Information], _logged);
    }

    [Fact]
    public void IsDue_OnceAMinute()
    {
        var clock = new ClockSkew("apns", _time, this);

        Assert.True(clock.IsDue());
        Assert.False(clock.IsDue());
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.True(clock.IsDue());
    }

    IDisposable? ILogger.BeginScope<TState>(TState state) => null;

    bool ILogger.IsEnabled(LogLevel logLevel) => true;

    void ILogger.Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
        _logged.Add(logLevel);
}
