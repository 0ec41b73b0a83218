using System.Net;
using System.Text.Json;
using System.Text.RegularExpressions;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Api.Documents;
using Pnh.Api.Problems;
using Pnh.Api.Routing;
using Pnh.Api.Tests.Endpoints;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Push;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>The served OpenAPI document is the committed one, and true.</summary>
public sealed partial class DocumentTests
{
    [Fact]
    public async Task Document_Served_IsTheCommittedFile()
    {
        await using var hub = await TestHub.StartAsync();

        var served = await hub.SendAsync("GET", "/v1/openapi.json", credential: "");

        Assert.Equal(await File.ReadAllTextAsync(FileOf("src/Pnh.Api/Endpoints/openapi.json")), served.Body);
    }

    /// <summary>A module script of another origin needs the header.</summary>
    [Fact]
    public async Task Client_Served_IsTheCommittedModulesShortenedForPagesOfAnyOrigin()
    {
        await using var hub = await TestHub.StartAsync();
        using var http = new HttpMessageInvoker(new SocketsHttpHandler { UseProxy = false });
        var known = Directory.GetFiles(FileOf("clients/js"), "*.js").Select(Path.GetFileName).ToHashSet();
        foreach (var name in ClientScripts.Names)
        {
            using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(hub.Host.PublicAddress, name));
            using var served = await http.SendAsync(request, CancellationToken.None);
            var sent = (await served.Content.ReadAsStringAsync()).Split('\n');
            var modules = ClientScripts.ModulesOf(name);
            var committed = modules.SelectMany(static module => File.ReadAllLines(FileOf($"clients/js/{module}"))).Select(static line => line.Trim().Split(" // ")[0].TrimEnd())
                .Where(static line => line is not ("" or ['/', '/' or '*', ..] or ['*', ..]) && !line.StartsWith("import ", StringComparison.Ordinal));
            Assert.Equal(committed.Select(Bare), sent.Select(Bare));
            Assert.Equal(name, modules[^1]);
            Assert.Equal(("text/javascript", "*"), (served.Content.Headers.ContentType!.MediaType, served.Headers.GetValues("Access-Control-Allow-Origin").Single()));
            known.ExceptWith(modules);

            var names = modules.SelectMany(static module => File.ReadAllLines(FileOf($"clients/js/{module}"))).Select(static line => TopName().Match(line).Groups[1].Value).Where(static top => top.Length > 0).ToList();
            Assert.Equal(names.Distinct(), names);
        }

        Assert.Empty(known);

        static string Bare(string line) => PrivateName().Replace(line.StartsWith("export ", StringComparison.Ordinal) ? line["export ".Length..] : line, "#");
    }

    [GeneratedRegex("#[a-zA-Z]\\w*")]
    private static partial Regex PrivateName();

    [GeneratedRegex("^(?:export )?(?:async )?(?:const|class|function) (\\w+)")]
    private static partial Regex TopName();

    [Fact]
    public async Task Client_BrowserTakesGzip_IsCompressed()
    {
        await using var hub = await TestHub.StartAsync();
        using var http = new HttpMessageInvoker(new SocketsHttpHandler { UseProxy = false, AutomaticDecompression = DecompressionMethods.GZip });
        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(hub.Host.PublicAddress, "/pnh.js"));
        using var served = await http.SendAsync(request, CancellationToken.None);
        Assert.Contains("export function connect(", await served.Content.ReadAsStringAsync(), StringComparison.Ordinal);
        Assert.Equal("Accept-Encoding", served.Headers.Vary.Single());
    }

    [Fact]
    public async Task MetricsPage_Names_AreThoseOfTheReadmeAndNoOthers()
    {
        await using var hub = await TestHub.StartAsync();
        var metrics = hub.Host.Services.GetRequiredService<HubMetrics>();

        // What a hub has from its first delivery on: a channel without any has no series.
        metrics.DeliveryCounted("apns", EventClass.Call, DeliveryStatus.Accepted);
        metrics.AcceptToProvider("apns", EventClass.Call, TimeSpan.FromMilliseconds(1));
        await hub.SendAsync("GET", "/v1/users/nobody");
        var page = (await hub.SendAsync("GET", "/metrics", credential: "", operations: true)).Body;
        var readme = await File.ReadAllTextAsync(FileOf("src/Pnh.Core/Diagnostics/README.md"));

        var exported = Regex.Matches(page, @"^# TYPE (pnh_\w+) ", RegexOptions.Multiline).Select(static match => match.Groups[1].Value);
        var listed = Regex.Matches(readme, @"^\| `(pnh_\w+)` \|", RegexOptions.Multiline).Select(static match => match.Groups[1].Value);

        Assert.Equal(exported.Order(StringComparer.Ordinal), listed.Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task Document_Operations_AreTheMappedPublicEndpoints()
    {
        await using var hub = await TestHub.StartAsync();
        var mapped = hub.Host.Services.GetRequiredService<EndpointDataSource>().Endpoints.OfType<RouteEndpoint>()
            .Where(static e => (e.Metadata.GetMetadata<EndpointPlace>() ?? EndpointPlace.Business).OnPublic)
            .SelectMany(static e => e.Metadata.GetMetadata<IHttpMethodMetadata>()!.HttpMethods.Select(m => $"{m} {e.RoutePattern.RawText}"));

        var described = Document(hub).GetProperty("paths").EnumerateObject()
            .SelectMany(static path => path.Value.EnumerateObject().Select(operation => $"{operation.Name.ToUpperInvariant()} {path.Name}"));

        Assert.Equal(mapped.Order(StringComparer.Ordinal), described.Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task Document_ProblemCodes_AreTheCatalogue()
    {
        await using var hub = await TestHub.StartAsync();

        var codes = Document(hub).GetProperty("components").GetProperty("schemas").GetProperty("Problem")
            .GetProperty("properties").GetProperty("code").GetProperty("enum").EnumerateArray().Select(static c => c.GetString());

        Assert.Equal(ProblemCatalogue.All.Select(static kind => kind.Code), codes);
    }

    [Fact]
    public async Task Document_References_AllResolve()
    {
        await using var hub = await TestHub.StartAsync();
        var document = Document(hub);

        foreach (Match reference in Regex.Matches(document.GetRawText(), "\"#/components/(\\w+)/(\\w+)\""))
        {
            Assert.True(document.GetProperty("components").GetProperty(reference.Groups[1].Value).TryGetProperty(reference.Groups[2].Value, out _), reference.Value);
        }
    }

    /// <summary>Every schema has one, which is what it describes; what may be sent is taken as it stands.</summary>
    [Fact]
    public async Task Document_Examples_AreWhatTheyStandFor()
    {
        await using var hub = await TestHub.StartAsync();
        foreach (var (schema, example) in ApiSchema.Examples())
        {
            ApiSchema.Holds(schema, example);
            if (schema switch
            {
                "Event" => ("POST", "/v1/events", 202),
                "Registration" => ("PUT", "/v1/users/ada/devices/new-iphone", 201),
                "Settings" => ("PUT", "/v1/users/ada/settings", 200),
                _ => (null, "", 0),
            } is ({ } method, var path, var expected))
            {
                Assert.Equal((schema, expected), (schema, (await hub.SendAsync(method, path, example.GetRawText())).Status));
            }
        }

        foreach (var (schema, path) in new[] { ("OwnedDevice", "/v1/devices:import"), ("Event", "/v1/events") })
        {
            var example = ApiSchema.Examples().First(one => one.Schema == schema).Example;
            Assert.Equal(schema == "Event" ? 207 : 200, (await hub.SendAsync("POST", path, JsonSerializer.Serialize(example), type: "application/x-ndjson")).Status);
        }
    }

    [Fact]
    public async Task Document_BoundsOfAnEvent_AreTheHubs()
    {
        await using var hub = await TestHub.StartAsync();
        var schemas = Document(hub).GetProperty("components").GetProperty("schemas");
        var notification = schemas.GetProperty("Notification").GetProperty("properties");
        var badge = notification.GetProperty("badge").GetProperty("maximum").GetInt32();
        var image = notification.GetProperty("image").GetProperty("maxLength").GetInt32();
        Assert.Equal(1, schemas.GetProperty("Event").GetProperty("properties").GetProperty("channels").GetProperty("minItems").GetInt32());

        foreach (var more in new[] { 0, 1 })
        {
            var expected = more == 0 ? 200 : 400;
            Assert.Equal(expected, await ExplainAsync($$"""{"notification":{"badge":{{badge + more}} }"""));
            Assert.Equal(expected, await ExplainAsync($$"""{"notification":{"image":"https://a.example/{{new string('a', image - "https://a.example/".Length + more)}}"}"""));
            Assert.Equal(expected, await ExplainAsync(more == 0 ? """{"channels":["apns"]""" : """{"channels":[]"""));
            Assert.Equal(expected, await ExplainAsync($$"""{"collapseKey":"{{new string('ü', 32)}}{{new string('k', more)}}" """));
        }

        async Task<int> ExplainAsync(string start) => (await hub.SendAsync("POST", "/v1/events:explain", $$"""{{start}},"to":{"user":"x"} }""")).Status;
    }

    private static JsonElement Document(TestHub hub) => hub.SendAsync("GET", "/v1/openapi.json", credential: "").AsTaskResult().Json;

    private static string FileOf(string path)
    {
        var root = AppContext.BaseDirectory;
        while (!File.Exists(Path.Combine(root, "Pnh.slnx")))
        {
            root = Path.GetDirectoryName(root)!;
        }

        return Path.Combine(root, path);
    }
}
