namespace Pnh.Api.Tests.EndToEnd;

/// <summary>Why sockets end, as <c>/metrics</c> tells it.</summary>
public sealed class SocketCloseTests
{
    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Metrics_AfterSocketsThatEnded_CountThemByTheirCode(string transport)
    {
        await using var hub = await TestHub.StartAsync(configuration: [$"--Pnh:Sockets:Transport={transport}"]);
        using var kicked = await hub.ConnectAsync("bea", "tab");
        using var first = await hub.ConnectAsync("eve", "tab");
        using var second = await hub.ConnectAsync("eve", "tab");
        await hub.SendAsync("DELETE", "/v1/users/bea/sessions");

        var metrics = await TestHub.EventuallyAsync(
            () => hub.SendAsync("GET", "/metrics", operations: true).AsTaskResult().Body,
            static page => page.Contains("pnh_socket_closes_total{code=\"4503\"} 1\n", StringComparison.Ordinal) && page.Contains("pnh_socket_closes_total{code=\"4500\"} 1\n", StringComparison.Ordinal));

        Assert.Contains("pnh_socket_closes_total{code=\"4502\"} 0\n", metrics, StringComparison.Ordinal);
        Assert.Contains("pnh_socket_closes_total{code=\"lost\"} 0\n", metrics, StringComparison.Ordinal);
    }
}
