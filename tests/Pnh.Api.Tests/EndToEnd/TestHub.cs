using System.Net.Http.Headers;
using System.Net.WebSockets;
using System.Reflection;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Pnh.Api.Access;
using Pnh.Api.Commands;
using Pnh.Api.Configuration;
using Pnh.Api.Hosting;
using Pnh.TestKit;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>A whole hub on free ports with a data folder of its own: the real program in process.</summary>
internal sealed class TestHub : IAsyncDisposable
{
    /// <summary>What <see cref="Key"/> is when apps are configured: give it to them.</summary>
    internal const string ConfiguredKey = "0123456789abcdef0123456789abcdef";

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);
    private readonly HttpMessageInvoker _http = new(new SocketsHttpHandler { UseProxy = false, AllowAutoRedirect = false });
    private readonly bool _ownsFolder;

    private TestHub(HubHost host, string folder, bool ownsFolder)
    {
        Host = host;
        Folder = folder;
        _ownsFolder = ownsFolder;
    }

    internal HubHost Host { get; }

    internal string Folder { get; }

    internal string Key => Host.Start.DemoKey ?? ConfiguredKey;

    internal static Task<TestHub> StartAsync(string? folder = null, Assembly[]? channels = null, params string[] configuration) =>
        StartAsync(folder, channels, time: null, configuration);

    internal static async Task<TestHub> StartAsync(
        string? folder, Assembly[]? channels, TimeProvider? time, string[] configuration, Action<IServiceCollection>? services = null, Role role = Role.All)
    {
        var data = folder ?? Directory.CreateTempSubdirectory("pnh-").FullName;
        var errors = new ConfigurationErrors();
        using var patience = new CancellationTokenSource(Patience);
        var host = await HubHost.BuildAsync(role, [.. Tokens(data), .. configuration], errors, Configure, patience.Token, channels ?? []);
        Assert.True(host is not null, string.Join(' ', errors.All));
        try
        {
            await host.StartAsync(patience.Token);
            return new TestHub(host, data, folder is null);
        }
        catch
        {
            await host.DisposeAsync(); // else it holds the folder
            throw;
        }

        void Configure(WebApplicationBuilder builder)
        {
            Quiet(builder);
            if (time is not null)
            {
                builder.Services.AddSingleton(time);
            }

            services?.Invoke(builder.Services);
        }
    }

    internal static string[] Tokens(string data) =>
    [
        $"--Pnh:Data={data}", "--Pnh:Urls=http://127.0.0.1:0", "--Pnh:OperationsUrls=http://127.0.0.1:0",
        "--Pnh:SandboxPorts:Apns=0", "--Pnh:SandboxPorts:Fcm=0",
    ];

    internal static void Quiet(WebApplicationBuilder builder) => builder.Logging.ClearProviders();

    internal string ClientToken(string user, string? device = null) =>
        Host.Services.GetRequiredService<ClientTokens>().Create("demo", user, device, TimeSpan.FromHours(1));

    /// <summary>A token that was made so long ago, for an hour.</summary>
    internal string OldToken(string user, TimeSpan age, string? device = null, params string[] topics) =>
        new ClientTokens(Host.Start.Options.Apps.Values, new FakeTimeProvider(TimeProvider.System.GetUtcNow() - age)).Create("demo", user, device, TimeSpan.FromHours(1), topics);

    /// <summary>One request; the body is JSON unless a type is given. The key is the demo's unless another credential is given ("" = none).</summary>
    internal async Task<Answer> SendAsync(string method, string path, string? body = null, string type = "application/json", string? credential = null, bool operations = false, bool isLast = false, string? traceParent = null)
    {
        using var request = new HttpRequestMessage(new HttpMethod(method), new Uri(operations ? Host.OperationsAddress : Host.PublicAddress, path));
        request.Headers.ConnectionClose = isLast;
        if (traceParent is not null)
        {
            request.Headers.Add("traceparent", traceParent);
        }

        if (credential != "")
        {
            request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", credential ?? Key);
        }

        if (body is not null)
        {
            request.Content = new ByteArrayContent(Encoding.UTF8.GetBytes(body));
            request.Content.Headers.ContentType = MediaTypeHeaderValue.Parse(type);
        }

        using var patience = new CancellationTokenSource(Patience);
        using var response = await _http.SendAsync(request, patience.Token);
        return new Answer(
            (int)response.StatusCode,
            await response.Content.ReadAsStringAsync(patience.Token),
            response.Headers.RetryAfter?.Delta,
            response.Content.Headers.ContentType?.MediaType);
    }

    internal async Task<TestSocket> ConnectAsync(string user, string device, string state = "active", Uri? at = null)
    {
        var socket = await TestSocket.OpenAsync(at ?? Host.PublicAddress);
        await socket.SendAsync(JsonSerializer.Serialize(new { type = "hello", token = ClientToken(user), device, state }));
        Assert.Equal("welcome", (await socket.ReceiveAsync()).GetProperty("type").GetString());
        return socket;
    }

    /// <summary>Polls until the condition holds; fails with the last value otherwise.</summary>
    internal static async Task<T> EventuallyAsync<T>(Func<T> read, Func<T, bool> holds, TimeSpan? within = null)
    {
        var deadline = TimeProvider.System.GetTimestamp();
        while (true)
        {
            var value = read();
            if (holds(value))
            {
                return value;
            }

            Assert.True(TimeProvider.System.GetElapsedTime(deadline) < (within ?? Patience), $"Still {value}");
            await Task.Delay(20);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await Host.DisposeAsync();
        _http.Dispose();
        if (_ownsFolder)
        {
            Directory.Delete(Folder, recursive: true);
        }
    }
}

internal sealed record Answer(int Status, string Body, TimeSpan? RetryAfter, string? Type)
{
    internal JsonElement Json => JsonSerializer.Deserialize<JsonElement>(Body);

    internal JsonElement[] Lines => [.. Body.Split('\n', StringSplitOptions.RemoveEmptyEntries).Select(static line => JsonSerializer.Deserialize<JsonElement>(line))];

    internal string Code => Json.GetProperty("code").GetString()!;

    internal string[] Pointers => [.. Json.GetProperty("errors").EnumerateArray().Select(static e => e.GetProperty("pointer").GetString()!)];
}

/// <summary>The framework's client, which shares no code with the hub's socket side.</summary>
internal sealed class TestSocket : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);
    private readonly ClientWebSocket _socket = new();
    private readonly byte[] _buffer = new byte[256 * 1024];

    internal WebSocketCloseStatus? CloseStatus => _socket.CloseStatus;

    internal static async Task<TestSocket> OpenAsync(Uri hub)
    {
        var client = new TestSocket();
        using var patience = new CancellationTokenSource(Patience);
        await client._socket.ConnectAsync(new UriBuilder(hub) { Scheme = "ws", Path = "/v1/socket" }.Uri, patience.Token);
        return client;
    }

    internal async Task SendAsync(string json)
    {
        using var patience = new CancellationTokenSource(Patience);
        await _socket.SendAsync(Encoding.UTF8.GetBytes(json), WebSocketMessageType.Text, true, patience.Token);
    }

    /// <summary>The next frame; its type is <c>closed</c> when the hub closed instead.</summary>
    internal async Task<JsonElement> ReceiveAsync()
    {
        using var patience = new CancellationTokenSource(Patience);
        var length = 0;
        while (true)
        {
            var part = await _socket.ReceiveAsync(_buffer.AsMemory(length), patience.Token);
            length += part.Count;
            if (part.MessageType == WebSocketMessageType.Close)
            {
                return JsonSerializer.Deserialize<JsonElement>("{\"type\":\"closed\"}");
            }

            if (part.EndOfMessage)
            {
                return JsonSerializer.Deserialize<JsonElement>(_buffer.AsSpan(0, length));
            }
        }
    }

    /// <summary>The next event frame, acknowledged.</summary>
    internal async Task<JsonElement> ReceiveEventAsync(bool ack = true)
    {
        var frame = await ReceiveAsync();
        Assert.Equal("event", frame.GetProperty("type").GetString());
        if (ack)
        {
            await SendAsync($$"""{"type":"ack","seq":{{frame.GetProperty("seq").GetInt64()}}}""");
        }

        return frame;
    }

    public void Dispose() => _socket.Dispose();
}
