using System.Text;
using Pnh.Channels.Fcm;
using Pnh.Core.Push;

namespace Pnh.Channels.Tests.Fcm;

public sealed class FcmResponseTests
{
    private const string Fcm = "type.googleapis.com/google.firebase.fcm.v1.FcmError";
    private const string BadRequest = "type.googleapis.com/google.rpc.BadRequest";
    private const string QuotaFailure = "type.googleapis.com/google.rpc.QuotaFailure";

    [Theory]
    [InlineData(404, "UNREGISTERED", DeliveryStatus.AddressDead, null)]
    [InlineData(403, "SENDER_ID_MISMATCH", DeliveryStatus.AddressDead, null)]
    [InlineData(400, "INVALID_ARGUMENT", DeliveryStatus.Rejected, null)]
    [InlineData(401, "THIRD_PARTY_AUTH_ERROR", DeliveryStatus.Rejected, null)]
    [InlineData(401, "APNS_AUTH_ERROR", DeliveryStatus.Rejected, null)]
    [InlineData(400, "UNSPECIFIED_ERROR", DeliveryStatus.Rejected, null)]
    [InlineData(503, "UNAVAILABLE", DeliveryStatus.Unavailable, 10)]
    [InlineData(500, "INTERNAL", DeliveryStatus.Unavailable, 10)]
    [InlineData(400, "SOMETHING_NEW", DeliveryStatus.Rejected, null)]
    [InlineData(429, "SOMETHING_NEW", DeliveryStatus.Unavailable, 60)]
    [InlineData(503, "SOMETHING_NEW", DeliveryStatus.Unavailable, 10)]
    public void Map_ErrorCode_StatusAndWait(int status, string code, DeliveryStatus expected, int? leastWait)
    {
        var result = Map(status, $$"""{"error":{"code":{{status}},"status":"X","details":[{"@type":"other","errorCode":"UNREGISTERED"},{"@type":"{{Fcm}}","errorCode":"{{code}}"}]} }""");

        Assert.Equal((expected, code), (result.Status, result.Reason));
        Assert.Equal(leastWait is not null, result.RetryAfter is not null);
        if (leastWait is { } seconds)
        {
            Assert.InRange(result.RetryAfter!.Value, TimeSpan.FromSeconds(seconds), TimeSpan.FromSeconds(Math.Max(seconds, 20)));
        }
    }

    [Theory]
    [InlineData("message.token", DeliveryStatus.AddressDead)]
    [InlineData("message.fid", DeliveryStatus.AddressDead)]
    [InlineData("message.data", DeliveryStatus.Rejected)]
    public void Map_InvalidArgument_DeadOnlyForTheAddressField(string field, DeliveryStatus expected)
    {
        var result = Map(400, $$"""{"error":{"status":"INVALID_ARGUMENT","details":[{"@type":"{{BadRequest}}","fieldViolations":[{"field":"{{field}}","description":"x"}]}]} }""");

        Assert.Equal((expected, "INVALID_ARGUMENT"), (result.Status, result.Reason));
    }

    [Fact]
    public void Map_InvalidArgumentInWords_Dead() =>
        Assert.Equal(
            DeliveryStatus.AddressDead,
            Map(400, """{"error":{"status":"INVALID_ARGUMENT","message":"The registration token is not a valid FCM registration token"}}""").Status);

    [Theory]
    [InlineData("project:1234", "Project quota", DeliveryStatus.Unavailable)]
    [InlineData("topic:news", "Topic quota", DeliveryStatus.Unavailable)]
    [InlineData("device:abc", "x", DeliveryStatus.Throttled)]
    [InlineData("x", "Device message rate exceeded", DeliveryStatus.Throttled)]
    [InlineData("project:device-lab", "x", DeliveryStatus.Unavailable)]
    [InlineData("x", "y", DeliveryStatus.Unavailable)]
    public void Map_QuotaExceeded_WhoseQuotaDecides(string subject, string description, DeliveryStatus expected)
    {
        var body = $$"""{"error":{"details":[{"@type":"{{Fcm}}","errorCode":"QUOTA_EXCEEDED"},{"@type":"{{QuotaFailure}}","violations":[{"subject":"{{subject}}","description":"{{description}}"}]}]} }""";

        var result = FcmResponse.Map(429, Encoding.UTF8.GetBytes(body), TimeSpan.FromSeconds(7));

        Assert.Equal((expected, TimeSpan.FromSeconds(7)), (result.Status, result.RetryAfter!.Value));
        Assert.False(FcmResponse.IsOutage(result));
    }

    /// <summary>What Google's front end answers to a project over its quota (firebase-admin-go #719): no FcmError, no QuotaFailure.</summary>
    public const string FrontEnd =
        """
        {"error":{"code":429,"message":"Quota exceeded for quota metric 'Send requests' and limit 'Send requests per minute' of service 'fcm.googleapis.com' for consumer 'project_number:7'.",
        "status":"RESOURCE_EXHAUSTED","details":[
        {"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED","domain":"googleapis.com","metadata":{
        "quota_limit_value":"600000","consumer":"projects/7","quota_metric":"fcm.googleapis.com/send_requests","quota_unit":"1/min/{project}",
        "service":"fcm.googleapis.com","quota_location":"global","quota_limit":"SendsPerMinutePerProject"}},
        {"@type":"type.googleapis.com/google.rpc.Help","links":[{"description":"Request a higher quota limit.","url":"https://cloud.google.com/docs/quotas/help/request_increase"}]}]}}
        """;

    [Theory]
    [InlineData(FrontEnd, FcmResponse.ProjectQuota)]
    [InlineData("""{"error":{"status":"RESOURCE_EXHAUSTED"}}""", FcmResponse.ProjectQuota)]
    [InlineData("""{"error":{"details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"QUOTA_EXCEEDED"}]}}""", FcmResponse.ProjectQuota)]
    [InlineData("""{"error":{"message":"Topic quota exceeded.","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"QUOTA_EXCEEDED"}]}}""", "QUOTA_EXCEEDED:topic")]
    [InlineData("""{"error":{"status":"RESOURCE_EXHAUSTED","message":"Device message rate exceeded."}}""", "QUOTA_EXCEEDED:device")]
    [InlineData("""{"error":{"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","metadata":{"quota_limit":"TopicSendsPerMinutePerProject","consumer":"projects/7"}}]}}""", "QUOTA_EXCEEDED:topic")]
    public void Map_QuotaWithoutQuotaFailure_TheProjectsUnlessItNamesAnother(string body, string reason)
    {
        var result = Map(429, body);

        Assert.Equal((reason, TimeSpan.FromSeconds(60)), (result.Reason, result.RetryAfter!.Value));
        Assert.Equal(reason.EndsWith("device", StringComparison.Ordinal) ? DeliveryStatus.Throttled : DeliveryStatus.Unavailable, result.Status);
    }

    [Theory]
    [InlineData(401, """{"error":{"status":"UNAUTHENTICATED"}}""", DeliveryStatus.Misconfigured, "UNAUTHENTICATED")]
    [InlineData(403, """{"error":{"status":"PERMISSION_DENIED"}}""", DeliveryStatus.Misconfigured, "PERMISSION_DENIED")]
    [InlineData(404, """{"error":{"status":"NOT_FOUND"}}""", DeliveryStatus.Rejected, "NOT_FOUND")]
    [InlineData(429, "", DeliveryStatus.Unavailable, "http-429")]
    [InlineData(401, "<html>", DeliveryStatus.Unavailable, "http-401")]
    [InlineData(404, "<html>", DeliveryStatus.Unavailable, "http-404")]
    [InlineData(502, "<html>", DeliveryStatus.Unavailable, "http-502")]
    [InlineData(503, """{"error":"x"}""", DeliveryStatus.Unavailable, "http-503")]
    [InlineData(503, """["x"]""", DeliveryStatus.Unavailable, "http-503")]
    [InlineData(503, """{"error":{"details":[7,{"@type":7}]}}""", DeliveryStatus.Unavailable, "http-503")]
    public void Map_WithoutFcmCode_ByStatusAndNeverDead(int status, string body, DeliveryStatus expected, string reason)
    {
        var result = Map(status, body);

        Assert.Equal((expected, reason), (result.Status, result.Reason));
    }

    [Theory]
    [InlineData(503, "UNAVAILABLE", true)]
    [InlineData(500, "INTERNAL", true)]
    [InlineData(404, "UNREGISTERED", false)]
    [InlineData(429, "QUOTA_EXCEEDED", false)]
    public void IsOutage_Code_OnlyTheProvidersTrouble(int status, string code, bool expected) =>
        Assert.Equal(expected, FcmResponse.IsOutage(Map(status, $$"""{"error":{"details":[{"@type":"{{Fcm}}","errorCode":"{{code}}"}]} }""")));

    private static DeliveryResult Map(int status, string body) => FcmResponse.Map(status, Encoding.UTF8.GetBytes(body), null);
}
