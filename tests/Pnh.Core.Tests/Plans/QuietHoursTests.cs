using System.Globalization;
using Pnh.Core.Users;

namespace Pnh.Core.Tests.Plans;

public sealed class QuietHoursTests
{
    [Theory]
    [InlineData("22:00", "07:00", "UTC", "2026-03-01T21:59:59Z", false)]
    [InlineData("22:00", "07:00", "UTC", "2026-03-01T22:00:00Z", true)]
    [InlineData("22:00", "07:00", "UTC", "2026-03-02T00:00:00Z", true)]
    [InlineData("22:00", "07:00", "UTC", "2026-03-02T06:59:59Z", true)]
    [InlineData("22:00", "07:00", "UTC", "2026-03-02T07:00:00Z", false)]
    [InlineData("12:00", "14:00", "UTC", "2026-03-01T13:00:00Z", true)]
    [InlineData("12:00", "14:00", "UTC", "2026-03-01T14:00:00Z", false)]
    [InlineData("12:00", "12:00", "UTC", "2026-03-01T12:00:00Z", false)]
    [InlineData("22:00", "07:00", "Europe/Berlin", "2026-01-15T21:30:00Z", true)] // 22:30 winter time
    [InlineData("22:00", "07:00", "Europe/Berlin", "2026-07-15T20:30:00Z", true)] // 22:30 summer time
    [InlineData("22:00", "07:00", "Europe/Berlin", "2026-07-15T05:30:00Z", false)] // 07:30 summer time
    [InlineData("22:00", "07:00", "Asia/Kolkata", "2026-01-15T16:29:00Z", false)] // 21:59, half-hour zone
    [InlineData("22:00", "07:00", "Asia/Kolkata", "2026-01-15T16:30:00Z", true)]
    [InlineData("22:00", "07:00", "America/Los_Angeles", "2026-01-15T06:00:00Z", true)] // 22:00 the day before
    [InlineData("22:00", "07:00", "Nowhere/Land", "2026-01-15T23:00:00Z", true)] // counts as UTC
    public void Contains_OnTheUsersClock(string from, string to, string zone, string now, bool expected) => Assert.Equal(
        expected,
        new QuietHours(Time(from), Time(to), zone).Contains(DateTimeOffset.Parse(now, CultureInfo.InvariantCulture)));

    [Fact]
    public void Contains_UnknownZone_ThrowsNothingInside()
    {
        var hours = new QuietHours(Time("22:00"), Time("07:00"), "Nowhere/Else");
        var faults = 0;
        var thread = Environment.CurrentManagedThreadId;
        AppDomain.CurrentDomain.FirstChanceException += Count;
        for (var i = 0; i < 100; i++)
        {
            hours.Contains(DateTimeOffset.UnixEpoch);
        }

        AppDomain.CurrentDomain.FirstChanceException -= Count;
        Assert.Equal(0, faults);

        void Count(object? sender, System.Runtime.ExceptionServices.FirstChanceExceptionEventArgs fault) =>
            faults += Environment.CurrentManagedThreadId == thread ? 1 : 0;
    }

    [Theory]
    [InlineData("22:00", "07:00", "UTC", "2026-03-01T22:00:00Z", "2026-03-02T07:00:00Z")]
    [InlineData("22:00", "07:00", "UTC", "2026-03-02T06:59:59.9Z", "2026-03-02T07:00:00Z")]
    [InlineData("12:00", "14:00", "UTC", "2026-03-01T12:34:56Z", "2026-03-01T14:00:00Z")]
    [InlineData("00:00", "23:59", "UTC", "2026-03-01T00:00:00Z", "2026-03-01T23:59:00Z")]
    [InlineData("22:00", "07:00", "Asia/Kolkata", "2026-01-15T16:30:00Z", "2026-01-16T01:30:00Z")]
    [InlineData("22:00", "07:00", "Europe/Berlin", "2026-03-28T21:00:00Z", "2026-03-29T05:00:00Z")] // 2:00 becomes 3:00 in that night
    [InlineData("22:00", "07:00", "Europe/Berlin", "2026-10-24T20:00:00Z", "2026-10-25T06:00:00Z")] // 3:00 becomes 2:00
    [InlineData("22:00", "02:30", "Europe/Berlin", "2026-03-28T21:00:00Z", "2026-03-29T01:00:00Z")] // no 2:30 in that night: 3:00
    [InlineData("01:45", "02:30", "Europe/Berlin", "2026-03-29T00:50:00Z", "2026-03-29T01:00:00Z")]
    [InlineData("22:00", "02:30", "Europe/Berlin", "2026-10-24T20:00:00Z", "2026-10-25T00:30:00Z")] // the first of two 2:30
    [InlineData("22:00", "07:00", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", "2026-10-03T20:00:00Z")] // half an hour
    [InlineData("22:00", "07:00", "Nowhere/Land", "2026-01-15T23:00:00Z", "2026-01-16T07:00:00Z")]
    public void EndAfter_OnTheUsersClock(string from, string to, string zone, string now, string expected)
    {
        var hours = new QuietHours(Time(from), Time(to), zone);
        var end = hours.EndAfter(DateTimeOffset.Parse(now, CultureInfo.InvariantCulture));
        Assert.Equal(DateTimeOffset.Parse(expected, CultureInfo.InvariantCulture), end);
        Assert.False(hours.Contains(end));
        Assert.True(hours.Contains(end - TimeSpan.FromTicks(1)));
    }

    [Theory]
    [InlineData("2026-03-01T20:00:00Z", null, "2026-03-01T20:00:00Z")] // none
    [InlineData("2026-03-01T23:00:00Z", null, "2026-03-02T07:00:00Z")]
    [InlineData("2026-03-01T20:00:00Z", "2026-03-01T21:00:00Z", "2026-03-01T21:00:00Z")]
    [InlineData("2026-03-01T20:00:00Z", "2026-03-01T22:30:00Z", "2026-03-02T07:00:00Z")] // quiet hours have begun meanwhile
    [InlineData("2026-03-01T23:00:00Z", "2026-03-02T09:00:00Z", "2026-03-02T09:00:00Z")]
    [InlineData("2026-03-01T20:00:00Z", "2026-03-01T19:00:00Z", "2026-03-01T20:00:00Z")] // over
    public void QuietUntil_BothEnd(string now, string? disturb, string expected)
    {
        var settings = new UserSettings
        {
            QuietHours = new QuietHours(Time("22:00"), Time("07:00"), "UTC"),
            DoNotDisturbUntil = disturb is null ? null : DateTimeOffset.Parse(disturb, CultureInfo.InvariantCulture),
        };
        Assert.Equal(DateTimeOffset.Parse(expected, CultureInfo.InvariantCulture), settings.QuietUntil(isCall: false, DateTimeOffset.Parse(now, CultureInfo.InvariantCulture)));
    }

    private static TimeOnly Time(string text) => TimeOnly.ParseExact(text, "HH:mm", CultureInfo.InvariantCulture);
}
