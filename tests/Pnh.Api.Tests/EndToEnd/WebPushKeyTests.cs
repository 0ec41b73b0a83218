using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text.Json;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>The key for which a page subscribes.</summary>
public sealed class WebPushKeyTests
{
    [Fact]
    public async Task Key_OfTheCallersApp_IsThePublicHalfOfItsAccount()
    {
        await using var hub = await TestHub.StartAsync();
        using var vapid = ECDsa.Create();
        vapid.ImportFromPem(await File.ReadAllTextAsync(Directory.GetFiles(hub.Folder, "vapid.pem", SearchOption.AllDirectories).Single()));
        var point = vapid.ExportParameters(includePrivateParameters: false).Q;
        foreach (var credential in new[] { hub.Key, hub.ClientToken("ada") })
        {
            var answer = await hub.SendAsync("GET", "/v1/webpush/key", credential: credential);
            Assert.Equal(200, answer.Status);
            Assert.Equal([4, .. point.X!, .. point.Y!], Base64Url.DecodeFromChars(JsonDocument.Parse(answer.Body).RootElement.GetProperty("key").GetString()));
        }

        Assert.Equal(401, (await hub.SendAsync("GET", "/v1/webpush/key", credential: "")).Status);
        Assert.Equal(401, (await hub.SendAsync("GET", "/v1/webpush/key", credential: "pnh_demo_unknown")).Status);
    }

    [Fact]
    public async Task Key_AppWithoutAnAccount_IsNoWebPush()
    {
        await using var hub = await TestHub.StartAsync(null, null, $"--Pnh:Apps:demo:Keys:0:Secret={TestHub.ConfiguredKey}", "--Pnh:Apps:demo:Keys:0:Scopes=read");
        var answer = await hub.SendAsync("GET", "/v1/webpush/key");
        Assert.Equal(404, answer.Status);
        Assert.Contains("no-web-push", answer.Body, StringComparison.Ordinal);
    }
}
