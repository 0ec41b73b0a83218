using Pnh.Channels.Net.Http;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Http;

public sealed class RetryAfterTests
{
    [Theory]
    [InlineData("0", 0)]
    [InlineData("120", 120)]
    [InlineData("999999999", 3600)]
    [InlineData("Thu, 01 Jan 2026 00:00:30 GMT", 30)]
    [InlineData("Wed, 31 Dec 2025 23:00:00 GMT", 0)]
    [InlineData("Fri, 01 Jan 2027 00:00:00 GMT", 3600)]
    public void Read_BothForms_ClampedToAnHour(string header, int seconds)
    {
        Assert.Equal(TimeSpan.FromSeconds(seconds), RetryAfter.Read(header, new FakeTimeProvider()));
    }

    [Theory]
    [InlineData(null)]
    [InlineData("soon")]
    [InlineData("-5")]
    public void Read_NothingReadable_Null(string? header)
    {
        Assert.Null(RetryAfter.Read(header, new FakeTimeProvider()));
    }
}
