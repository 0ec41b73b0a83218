namespace Pnh.Api.Tests.EndToEnd;

/// <summary><c>GET /v1/users:unreachable</c>.</summary>
public sealed class UnreachableUsersTests
{
    [Fact]
    public async Task Report_UsersWithoutAWay_WithTheReasonAndNobodyElse()
    {
        await using var hub = await TestHub.StartAsync();
        await Put(hub, "ada", "phone", """{"platform":"ios","apns":{"token":"ab12"}}""");
        await Put(hub, "ada", "tab", """{"platform":"web"}""");
        await Put(hub, "bob", "tab", """{"platform":"web"}""");
        await Put(hub, "bob", "tab-2", """{"platform":"web"}""");
        await Put(hub, "eve", "phone", """{"platform":"ios","apns":{"token":"ab13","topic":"com.somebody.else"}}""");
        await Put(hub, "zoe", "phone", """{"platform":"android","fcm":{"token":"x:y"}}""");

        var answer = await hub.SendAsync("GET", "/v1/users:unreachable");

        Assert.Equal(200, answer.Status);
        Assert.Equal(
            """
            {"user":"bob","devices":2,"reason":"no-address"}
            {"user":"eve","devices":1,"reason":"no-provider"}

            """.ReplaceLineEndings("\n"),
            answer.Body);
    }

    private static async Task Put(TestHub hub, string user, string device, string body) =>
        Assert.InRange((await hub.SendAsync("PUT", $"/v1/users/{user}/devices/{device}", body)).Status, 200, 204);
}
