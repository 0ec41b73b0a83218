using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Text;
using Pnh.Channels.Net.Http;
using Pnh.Channels.Net.Http2;

namespace Pnh.LaneBench;

/// <summary>The push that bench/lanes.sh makes h2load send: six headers, a bearer of 200 bytes, a body of 200.</summary>
internal static class Push
{
    public const string Path = "/3/device/";
    public const string Id = "4f4e1d3e-6c8e-4d6c-9a3c-1d2e3f405162";
    public const string Topic = "com.example.app";
    public const string Expiration = "1893456000";

    public static readonly string Authorization = "bearer " + new string('t', 193);
    public static readonly byte[] Body = Encoding.ASCII.GetBytes(new string('b', 200));

    /// <summary>64 hexadecimal digits, as a device's token has; of a few devices, so that none costs a string.</summary>
    public static readonly string[] Addresses = [.. Enumerable.Range(0, 64).Select(number => new string("0123456789abcdef"[number % 16], 62) + number.ToString("x2"))];

    public static void Check(int status)
    {
        if (status != 200)
        {
            throw new InvalidOperationException($"answered {status}");
        }
    }
}

/// <summary>SocketsHttpHandler and nothing else.</summary>
internal sealed class SocketsClient : IClient
{
    private readonly Uri[] _addresses;

    private readonly HttpMessageInvoker _invoker = new(new SocketsHttpHandler
    {
        ActivityHeadersPropagator = null,
        AllowAutoRedirect = false,
        AutomaticDecompression = DecompressionMethods.None,
        SslOptions = Trust.Everybody,
        UseCookies = false,
        UseProxy = false,
    });

    public SocketsClient(Uri address) =>
        _addresses = [.. Push.Addresses.Select(device => new Uri(address, Push.Path + device))];

    public async Task<long> PushUntilAsync(long end, int worker)
    {
        long count = 0;
        for (; TimeProvider.System.GetTimestamp() < end; count++)
        {
            using var request = Request(worker + count);
            using var response = await _invoker.SendAsync(request, CancellationToken.None);
            Push.Check((int)response.StatusCode);
        }

        return count;
    }

    public ValueTask DisposeAsync()
    {
        _invoker.Dispose();
        return ValueTask.CompletedTask;
    }

    private HttpRequestMessage Request(long number)
    {
        var request = new HttpRequestMessage(HttpMethod.Post, _addresses[number % _addresses.Length])
        {
            Version = HttpVersion.Version20,
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
            Content = new ReadOnlyMemoryContent(Push.Body),
        };
        var headers = request.Headers;
        headers.TryAddWithoutValidation("authorization", Push.Authorization);
        headers.TryAddWithoutValidation("apns-id", Push.Id);
        headers.TryAddWithoutValidation("apns-push-type", "alert");
        headers.TryAddWithoutValidation("apns-topic", Push.Topic);
        headers.TryAddWithoutValidation("apns-priority", "10");
        headers.TryAddWithoutValidation("apns-expiration", Push.Expiration);
        return request;
    }
}

/// <summary>Our own connection and nothing else.</summary>
internal sealed class DirectClient : IClient
{
    private static readonly SplicedBody Body = SplicedBody.Whole(Push.Body);

    private readonly Http2Connection _connection;

    private DirectClient(Http2Connection connection) => _connection = connection;

    public static async Task<DirectClient> DialAsync(Uri address)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        await socket.ConnectAsync(address.Host, address.Port);
        var tls = new SslStream(new NetworkStream(socket, ownsSocket: true));
        var options = Trust.Everybody;
        options.TargetHost = address.Host;
        options.ApplicationProtocols = [SslApplicationProtocol.Http2];
        await tls.AuthenticateAsClientAsync(options);
        return new DirectClient(Http2Connection.Start(
            tls, new ConnectionOptions { Origin = address }, new Nobody(), TimeProvider.System, Http2Limits.Default));
    }

    public async Task<long> PushUntilAsync(long end, int worker)
    {
        long count = 0;
        for (; TimeProvider.System.GetTimestamp() < end; count++)
        {
            using var answer = await SendAsync(worker + count);
            Push.Check(answer.Status);
        }

        return count;
    }

    public ValueTask DisposeAsync() => _connection.DisposeAsync();

    private ValueTask<ProviderAnswer> SendAsync(long number)
    {
        var headers = default(HeaderList);
        headers.Add(HeaderName.Authorization, Push.Authorization);
        headers.Add(HeaderName.ApnsId, Push.Id);
        headers.Add(HeaderName.ApnsPushType, "alert");
        headers.Add(HeaderName.ApnsTopic, Push.Topic);
        headers.Add(HeaderName.ApnsPriority, "10");
        headers.Add(HeaderName.ApnsExpiration, Push.Expiration);
        return _connection.SendAsync(
            new ProviderRequest { PathPrefix = Push.Path, PathEnd = Push.Addresses[number % Push.Addresses.Length], Headers = headers, Body = Body },
            CancellationToken.None);
    }

    private sealed class Nobody : IConnectionObserver
    {
        public void StreamLimit(long streams)
        {
        }

        public void GoingAway(long errorCode, string? reason)
        {
        }

        public void Ended(long violation)
        {
        }
    }
}

/// <summary>The bench's server has a certificate of its own, made for the run.</summary>
internal static class Trust
{
    [System.Diagnostics.CodeAnalysis.SuppressMessage("Security", "CA5359", Justification = "The server is the bench's own, on loopback.")]
    public static SslClientAuthenticationOptions Everybody => new() { RemoteCertificateValidationCallback = static (_, _, _, _) => true };
}
