using System.Net.Http.Headers;

namespace Pnh.Api.Tests.Endpoints;

/// <summary>Reads with a key from one port by a client that knows chunks: long answers come in pieces, and some never end.</summary>
internal sealed class ApiReader : IAsyncDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);
    private readonly HttpMessageInvoker _http = new(new SocketsHttpHandler { UseProxy = false });

    private readonly int _port;
    private readonly string _key;

    private ApiReader(int port, string key)
    {
        _port = port;
        _key = key;
    }

    public static ApiReader Of(int port, string key) => new(port, key);

    /// <summary>Once the headers are there; the body is read as it comes.</summary>
    public async Task<HttpResponseMessage> GetAsync(string path)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri($"http://127.0.0.1:{_port}{path}"));
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", _key);
        using var patience = new CancellationTokenSource(Patience);
        return await _http.SendAsync(request, patience.Token);
    }

    /// <summary>The whole body of a 200.</summary>
    public async Task<string> GetTextAsync(string path)
    {
        using var answer = await GetAsync(path);
        Assert.Equal(200, (int)answer.StatusCode);
        return await answer.Content.ReadAsStringAsync().WaitAsync(Patience);
    }

    public ValueTask DisposeAsync()
    {
        _http.Dispose();
        return ValueTask.CompletedTask;
    }
}
