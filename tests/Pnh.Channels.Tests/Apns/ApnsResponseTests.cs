using System.Text;
using Pnh.Channels.Apns;
using Pnh.Core.Push;

namespace Pnh.Channels.Tests.Apns;

public sealed class ApnsResponseTests
{
    [Theory]
    [InlineData(400, "BadDeviceToken", DeliveryStatus.AddressDead)]
    [InlineData(400, "DeviceTokenNotForTopic", DeliveryStatus.AddressDead)]
    [InlineData(400, "BadCollapseId", DeliveryStatus.Rejected)]
    [InlineData(400, "BadExpirationDate", DeliveryStatus.Rejected)]
    [InlineData(400, "BadMessageId", DeliveryStatus.Rejected)]
    [InlineData(400, "BadPriority", DeliveryStatus.Rejected)]
    [InlineData(400, "InvalidPushType", DeliveryStatus.Rejected)]
    [InlineData(400, "DuplicateHeaders", DeliveryStatus.Rejected)]
    [InlineData(400, "PayloadEmpty", DeliveryStatus.Rejected)]
    [InlineData(400, "MissingDeviceToken", DeliveryStatus.Rejected)]
    [InlineData(400, "BadTopic", DeliveryStatus.Misconfigured)]
    [InlineData(400, "MissingTopic", DeliveryStatus.Misconfigured)]
    [InlineData(400, "TopicDisallowed", DeliveryStatus.Misconfigured)]
    [InlineData(400, "IdleTimeout", DeliveryStatus.Unavailable)]
    [InlineData(403, "BadCertificate", DeliveryStatus.Misconfigured)]
    [InlineData(403, "BadCertificateEnvironment", DeliveryStatus.Misconfigured)]
    [InlineData(403, "ExpiredProviderToken", DeliveryStatus.Misconfigured)]
    [InlineData(403, "InvalidProviderToken", DeliveryStatus.Misconfigured)]
    [InlineData(403, "MissingProviderToken", DeliveryStatus.Misconfigured)]
    [InlineData(403, "UnrelatedKeyIdInToken", DeliveryStatus.Misconfigured)]
    [InlineData(403, "BadEnvironmentKeyIdInToken", DeliveryStatus.Misconfigured)]
    [InlineData(403, "BadEnvironmentKeyInToken", DeliveryStatus.Misconfigured)]
    [InlineData(403, "Forbidden", DeliveryStatus.Misconfigured)]
    [InlineData(404, "BadPath", DeliveryStatus.Rejected)]
    [InlineData(405, "MethodNotAllowed", DeliveryStatus.Rejected)]
    [InlineData(410, "Unregistered", DeliveryStatus.AddressDead)]
    [InlineData(410, "ExpiredToken", DeliveryStatus.AddressDead)]
    [InlineData(413, "PayloadTooLarge", DeliveryStatus.Rejected)]
    [InlineData(429, "TooManyProviderTokenUpdates", DeliveryStatus.Unavailable)]
    [InlineData(429, "TooManyRequests", DeliveryStatus.Throttled)]
    [InlineData(500, "InternalServerError", DeliveryStatus.Unavailable)]
    [InlineData(503, "ServiceUnavailable", DeliveryStatus.Unavailable)]
    [InlineData(503, "Shutdown", DeliveryStatus.Unavailable)]
    [InlineData(400, "SomethingNew", DeliveryStatus.Rejected)]
    [InlineData(403, "SomethingNew", DeliveryStatus.Misconfigured)]
    [InlineData(410, "SomethingNew", DeliveryStatus.AddressDead)]
    [InlineData(429, "SomethingNew", DeliveryStatus.Throttled)]
    [InlineData(500, "SomethingNew", DeliveryStatus.Unavailable)]
    public void Map_Reason_Status(int status, string reason, DeliveryStatus expected)
    {
        var result = Map(status, $$"""{"reason":"{{reason}}"}""");

        Assert.Equal((expected, reason), (result.Status, result.Reason));
        Assert.Null(result.DeadSince);
    }

    [Fact]
    public void Map_UnregisteredWithTime_DeadSinceTheEndOfThatMillisecond()
    {
        var result = Map(410, """{"reason":"Unregistered","timestamp":1767225600123}""");

        Assert.Equal(new DateTimeOffset(2026, 1, 1, 0, 0, 0, 124, TimeSpan.Zero).AddTicks(-1), result.DeadSince);
    }

    [Theory]
    [InlineData(410, "", DeliveryStatus.Unavailable)]
    [InlineData(403, "<html>", DeliveryStatus.Unavailable)]
    [InlineData(503, "{\"reason\":", DeliveryStatus.Unavailable)]
    [InlineData(400, "{\"reason\":7}", DeliveryStatus.Unavailable)]
    [InlineData(400, "[]", DeliveryStatus.Unavailable)]
    [InlineData(413, "too big", DeliveryStatus.Rejected)]
    public void Map_NotApnsJson_NeverKillsAnAddress(int status, string body, DeliveryStatus expected)
    {
        var result = Map(status, body);

        Assert.Equal((expected, $"http-{status}"), (result.Status, result.Reason));
    }

    [Theory]
    [InlineData(503, "ServiceUnavailable", null, true, true)]
    [InlineData(500, "InternalServerError", null, true, true)]
    [InlineData(400, "IdleTimeout", null, true, true)]
    [InlineData(503, "Shutdown", 5, false, true)]
    [InlineData(429, "TooManyProviderTokenUpdates", null, false, false)]
    [InlineData(429, "TooManyRequests", null, false, false)]
    [InlineData(410, "Unregistered", null, false, false)]
    [InlineData(400, "BadDeviceToken", null, false, false)]
    [InlineData(403, "InvalidProviderToken", null, false, false)]
    public void IsSafeToRetryAndIsOutage_Reason_AsTheTableSays(int status, string reason, int? retryAfter, bool retry, bool outage)
    {
        var wait = retryAfter is { } seconds ? TimeSpan.FromSeconds(seconds) : (TimeSpan?)null;
        var result = ApnsResponse.Map(status, Encoding.UTF8.GetBytes($$"""{"reason":"{{reason}}"}"""), wait);

        Assert.Equal((retry, outage), (ApnsResponse.IsSafeToRetry(result), ApnsResponse.IsOutage(result)));
    }

    [Fact]
    public void Map_TooManyProviderTokenUpdates_WaitsTheTwentyMinutes() =>
        Assert.Equal(TimeSpan.FromMinutes(20), Map(429, """{"reason":"TooManyProviderTokenUpdates"}""").RetryAfter);

    private static DeliveryResult Map(int status, string body) => ApnsResponse.Map(status, Encoding.UTF8.GetBytes(body), null);
}
