using System.Net.Http.Headers;
using System.Text;
using Pnh.TestKit;

namespace Pnh.Api.Tests.ConsolePage;

/// <summary>A console on a clock that the test moves, and a client without cookies of its own.</summary>
public abstract class ConsoleTestBase : IAsyncLifetime, IDisposable
{
    private readonly HttpMessageInvoker _http = new(new SocketsHttpHandler { AllowAutoRedirect = false, UseCookies = false });

    private protected FakeTimeProvider Time { get; } = new();

    private protected ConsoleHost Host { get; private set; } = null!;

    private protected string Origin => Host.Address.GetLeftPart(UriPartial.Authority);

    public async Task InitializeAsync() => Host = await ConsoleHost.StartAsync(Time);

    public async Task DisposeAsync() => await Host.DisposeAsync();

    public void Dispose()
    {
        _http.Dispose();
        GC.SuppressFinalize(this);
    }

    private protected async Task<string> SignInAsync()
    {
        using var answer = await SignInAsync(ConsoleHost.AdminKey);
        return answer.Headers.GetValues("Set-Cookie").Single().Split(';')[0];
    }

    private protected Task<HttpResponseMessage> SignInAsync(string key) =>
        SendAsync(HttpMethod.Post, "/console/signin", origin: Origin, body: $"key={key}", mediaType: "application/x-www-form-urlencoded");

    private protected async Task<HttpResponseMessage> SendAsync(
        HttpMethod method, string path, string? cookie = null, string? origin = null, string? body = null, string? key = null,
        string? hostName = null, string? fetchSite = null, string? accept = null, string mediaType = "application/json")
    {
        using var request = new HttpRequestMessage(method, new Uri(Host.Address, path));
        request.Headers.Host = hostName;
        Add(request.Headers, "Cookie", cookie);
        Add(request.Headers, "Origin", origin);
        Add(request.Headers, "Sec-Fetch-Site", fetchSite);
        Add(request.Headers, "Accept", accept);
        Add(request.Headers, "Sec-Fetch-Mode", fetchSite is not null && accept is not null ? "navigate" : null);
        Add(request.Headers, "Sec-Fetch-Dest", fetchSite is not null && accept is not null ? "document" : null);
        Add(request.Headers, "Authorization", key is null ? null : $"Bearer {key}");
        request.Content = method == HttpMethod.Post ? new StringContent(body ?? "", Encoding.UTF8, mediaType) : null;
        return await _http.SendAsync(request, CancellationToken.None).WaitAsync(TimeSpan.FromSeconds(10));
    }

    private static void Add(HttpRequestHeaders headers, string name, string? value)
    {
        if (value is not null)
        {
            Assert.True(headers.TryAddWithoutValidation(name, value));
        }
    }

    private protected Task<HttpResponseMessage> SendAsync(HttpRequestMessage request) => _http.SendAsync(request, CancellationToken.None);
}
