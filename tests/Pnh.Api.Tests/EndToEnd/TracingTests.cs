using System.Collections.Concurrent;
using System.Net;
using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Pnh.Api.Configuration;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>What a collector gets of an event with a trace.</summary>
public sealed class TracingTests : IAsyncLifetime
{
    private const string Trace = "0af7651916cd43dd8448eb211c80319c";
    private readonly ConcurrentQueue<byte[]> _exports = new();
    private WebApplication _collector = null!;

    public async Task InitializeAsync()
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(static kestrel => kestrel.Listen(IPAddress.Loopback, 0));
        _collector = builder.Build();
        _collector.MapPost("/v1/traces", async (HttpRequest request) =>
        {
            using var body = new MemoryStream();
            await request.Body.CopyToAsync(body);
            _exports.Enqueue(body.ToArray());
        });
        await _collector.StartAsync();
    }

    public async Task DisposeAsync() => await _collector.DisposeAsync();

    [Theory]
    [InlineData("01", true)]
    [InlineData("00", false)]
    public async Task Export_EventWithATrace_HasItsSpansWhenThePublisherSampledIt(string flags, bool isSampled)
    {
        await using (var hub = await TestHub.StartAsync(configuration: $"--Pnh:Tracing:Otlp={_collector.Urls.First()}/v1/traces"))
        {
            using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(hub.Host.PublicAddress, "/v1/events"))
            {
                Content = new StringContent("""{"id":"traced-1","to":{"user":"ada"},"class":"call","notification":{"title":"Grace"}}""", Encoding.UTF8, "application/json"),
            };
            request.Headers.Authorization = new("Bearer", hub.Key);
            request.Headers.Add("traceparent", $"00-{Trace}-b7ad6b7169203331-{flags}");
            using var client = new HttpMessageInvoker(new SocketsHttpHandler());
            Assert.Equal(HttpStatusCode.Accepted, (await client.SendAsync(request, CancellationToken.None)).StatusCode);
            for (var n = 0; n < 500 && (await hub.SendAsync("GET", "/v1/events/traced-1")).Json.GetProperty("state").GetString() != "done"; n++)
            {
                await Task.Delay(20);
            }
        }

        // The end of the hub sends what waits.
        var all = Encoding.Latin1.GetString([.. _exports.SelectMany(static export => export)]);
        foreach (var part in (string[])["pnh.accept", "pnh.push", "traced-1", "apns", "fcm", Encoding.Latin1.GetString(Convert.FromHexString(Trace)), ProgramVersion.Text])
        {
            Assert.Equal(isSampled, all.Contains(part, StringComparison.Ordinal));
        }
    }
}
