namespace Pnh.Api.Tests.EndToEnd;

/// <summary>Status and time of each answer, by route.</summary>
public sealed class RequestTimesTests
{
    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Metrics_AfterRequests_CountEachByItsRouteAndStatus(string transport)
    {
        await using var hub = await TestHub.StartAsync(configuration: $"--Pnh:Sockets:Transport={transport}");
        await hub.SendAsync("POST", "/v1/events", """{"id":"a","to":{"user":"ada"}}""");
        await hub.SendAsync("POST", "/v1/events", """{"id":"b","to":{"user":"ada"}}""");
        await hub.SendAsync("POST", "/v1/events", """{"id":"b","to":{"user":"bob"}}""");
        await hub.SendAsync("POST", "/v1/events", """{"to":7}""");
        await hub.SendAsync("POST", "/v1/events", "{}", credential: "no-such-key");
        await hub.SendAsync("GET", "/v1/users/ada");
        await hub.SendAsync("GET", "/v1/users/bob");
        await hub.SendAsync("GET", "/v1/events/none");
        await hub.SendAsync("DELETE", "/v1/events");
        await hub.SendAsync("GET", "/v1/unknown/path-7");

        var page = (await hub.SendAsync("GET", "/metrics", credential: "", operations: true)).Body;

        Assert.Equal(2, Count(page, "POST", "/v1/events", 202));
        Assert.Equal(1, Count(page, "POST", "/v1/events", 409));
        Assert.Equal(1, Count(page, "POST", "/v1/events", 400));
        Assert.Equal(1, Count(page, "POST", "/v1/events", 401));
        Assert.Equal(2, Count(page, "GET", "/v1/users/{user}", 200));
        Assert.Equal(1, Count(page, "GET", "/v1/events/{id}", 404));
        Assert.Equal(1, Count(page, "other", "other", 405));
        Assert.Equal(1, Count(page, "other", "other", 404));
        Assert.DoesNotContain("path-7", page, StringComparison.Ordinal);
        Assert.DoesNotContain("route=\"/metrics\"", page, StringComparison.Ordinal);
    }

    private static int Count(string page, string method, string route, int status)
    {
        var series = $"pnh_http_request_seconds_count{{method=\"{method}\",route=\"{route}\",status=\"{status}\"}} ";
        return page.Split('\n').FirstOrDefault(line => line.StartsWith(series, StringComparison.Ordinal)) is { } found ? int.Parse(found[series.Length..], null) : 0;
    }
}
