using System.IO.Compression;
using System.Net.Http.Headers;
using System.Text;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>Bodies that come as gzip, and what Windows writes before UTF-8.</summary>
public sealed class InflatedBodyTests : IAsyncLifetime
{
    private TestHub _hub = null!;

    public async Task InitializeAsync() => _hub = await TestHub.StartAsync();

    public async Task DisposeAsync() => await _hub.DisposeAsync();

    [Theory]
    [InlineData("gzip")]
    [InlineData("GZIP")]
    [InlineData("x-gzip")]
    public async Task Post_AsGzip_IsTaken(string coding)
    {
        var (status, body) = await PostAsync(Zip("""{"id":"zipped","to":{"user":"ada"}}"""), "application/json", coding);

        Assert.Equal((202, true), (status, body.Contains("\"id\":\"zipped\"", StringComparison.Ordinal)));
        Assert.Equal(200, (await _hub.SendAsync("GET", "/v1/events/zipped")).Status);
    }

    [Fact]
    public async Task Post_ManyLinesAsGzip_AreTaken()
    {
        var lines = string.Concat(Enumerable.Range(0, 5_000).Select(static i => $$$"""{"id":"z{{{i}}}","to":{"user":"nobody"},"ttl":60}{{{'\n'}}}"""));

        var (status, body) = await PostAsync(Zip(lines), "application/x-ndjson", "gzip");

        Assert.Equal(207, status);
        Assert.Contains("\"accepted\":5000", body, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Post_ABomb_Is413AndALineThatIsOneIsRefused()
    {
        var bomb = Zip("{\"to\":{\"user\":\"ada\"},\"data\":\"" + new string('x', 20_000_000) + "\"}");
        Assert.True(bomb.Length < 60_000);

        Assert.Equal(413, (await PostAsync(bomb, "application/json", "gzip")).Status);
        var (status, body) = await PostAsync(bomb, "application/x-ndjson", "gzip");
        Assert.Equal((207, true), (status, body.Contains("body-too-large", StringComparison.Ordinal)));
        Assert.Equal(413, (await PostAsync(Zip(new string('\n', 10_000_000)), "application/x-ndjson", "gzip")).Status);
    }

    [Theory]
    [InlineData("gzip", 400)]
    [InlineData("br", 415)]
    [InlineData("deflate", 415)]
    public async Task Post_NotWhatItSays_IsRefused(string coding, int refusal) =>
        Assert.Equal(refusal, (await PostAsync(Encoding.ASCII.GetBytes("""{"to":{"user":"ada"}}"""), "application/json", coding)).Status);

    [Fact]
    public async Task Post_LinesBehindAByteOrderMark_AreTaken()
    {
        byte[] lines = [0xEF, 0xBB, 0xBF, .. "{\"to\":{\"user\":\"nobody\"}}\n{\"to\":{\"user\":\"nobody\"}}\n"u8];

        Assert.Contains("\"accepted\":2", (await PostAsync(lines, "application/x-ndjson", null)).Body, StringComparison.Ordinal);
        byte[] import = [0xEF, 0xBB, 0xBF, .. "{\"user\":\"u\",\"device\":\"d\",\"platform\":\"web\"}\n"u8];
        Assert.Contains("\"imported\":1", (await PostAsync(import, "application/x-ndjson", null, "/v1/devices:import")).Body, StringComparison.Ordinal);
    }

    private static byte[] Zip(string text)
    {
        using var zipped = new MemoryStream();
        using (var zip = new GZipStream(zipped, CompressionLevel.SmallestSize))
        {
            zip.Write(Encoding.UTF8.GetBytes(text));
        }

        return zipped.ToArray();
    }

    private async Task<(int Status, string Body)> PostAsync(byte[] body, string type, string? coding, string path = "/v1/events")
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(_hub.Host.PublicAddress, path)) { Content = new ByteArrayContent(body) };
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", _hub.Key);
        request.Content.Headers.ContentType = new MediaTypeHeaderValue(type);
        if (coding is not null)
        {
            request.Content.Headers.ContentEncoding.Add(coding);
        }

        using var http = new HttpMessageInvoker(new SocketsHttpHandler());
        using var answer = await http.SendAsync(request, CancellationToken.None);
        return ((int)answer.StatusCode, await answer.Content.ReadAsStringAsync());
    }
}
