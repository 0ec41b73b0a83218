using System.Net.Http.Headers;
using System.Security.Cryptography;

namespace Pnh.Sandbox.Tests.Apns;

/// <summary>A correct request to APNs, to be made wrong in one place.</summary>
internal sealed class ApnsCaller(SandboxUnderTest sandbox)
{
    public const string Payload = """{"aps":{"alert":{"title":"Grace","body":"Hello"}},"pnh-id":"e-1"}""";

    public static string NewAddress() => Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(32));

    public Dictionary<string, string[]> Headers { get; } = new()
    {
        ["authorization"] = ["bearer " + sandbox.ProviderToken()],
        ["apns-push-type"] = ["alert"],
        ["apns-topic"] = ["com.example.demo"],
    };

    public HttpMethod Method { get; init; } = HttpMethod.Post;

    public string Address { get; init; } = NewAddress();

    public string? Path { get; init; }

    public string Body { get; init; } = Payload;

    public ApnsCaller With(string header, params string[] values)
    {
        Headers[header] = values;
        return this;
    }

    public ApnsCaller As(string pushType, string topic, string priority) =>
        With("apns-push-type", pushType).With("apns-topic", topic).With("apns-priority", priority);

    public Task<Answer> SendAsync(HttpMessageInvoker? caller = null)
    {
        HttpRequestMessage request = new(Method, new Uri(sandbox.Server.ApnsAddress, Path ?? $"/3/device/{Address}"))
        {
            Content = SandboxUnderTest.Json(Body),
        };
        foreach ((string name, string[] values) in Headers)
        {
            foreach (string value in values)
            {
                Add(request.Headers, name, value);
            }
        }

        return sandbox.SendAsync(request, caller);
    }

    private static void Add(HttpRequestHeaders headers, string name, string value) => Assert.True(headers.TryAddWithoutValidation(name, value));
}
