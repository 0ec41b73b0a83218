using System.Text.Json;
using System.Text.RegularExpressions;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Api.FrontDoor;
using Pnh.Api.Problems;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>The served OpenAPI document is the committed one, and true.</summary>
public sealed class DocumentTests
{
    [Fact]
    public async Task Document_Served_IsTheCommittedFile()
    {
        await using var hub = await TestHub.StartAsync();

        var served = await hub.SendAsync("GET", "/v1/openapi.json", credential: "");

        var root = AppContext.BaseDirectory;
        while (!File.Exists(Path.Combine(root, "Pnh.slnx")))
        {
            root = Path.GetDirectoryName(root)!;
        }

        Assert.Equal(await File.ReadAllTextAsync(Path.Combine(root, "src/Pnh.Api/Endpoints/openapi.json")), served.Body);
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

    private static JsonElement Document(TestHub hub) => hub.SendAsync("GET", "/v1/openapi.json", credential: "").AsTaskResult().Json;
}
