using System.Text;
using Pnh.Api.DirectHttp;

namespace Pnh.Api.Tests.Ingest;

/// <summary>Only what is certainly one of the two forms is taken; all else is Kestrel's (RFC 9112).</summary>
public sealed class RequestHeadTests
{
    private const string Post = "POST /v1/events HTTP/1.1\r\nHost: hub:8080\r\nAuthorization: Bearer k\r\nContent-Type: application/json\r\nContent-Length: 12\r\n";
    private const string Get = "GET /v1/socket HTTP/1.1\r\nHost: hub\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

    [Fact]
    public void Read_Event_GivesWhatIsNeeded()
    {
        var trace = new string('7', 55);
        var kind = RequestHead.Read(Encoding.ASCII.GetBytes($"{Post}traceparent:\t {trace} \r\nConnection: close\r\n\r\n{{}}"), out var head);

        Assert.Equal(HeadKind.Event, kind);
        Assert.Equal((12, true, Post.Length + trace.Length + 17 + 19 + 2), (head.ContentLength, head.IsLast, head.Length));
        Assert.Equal("Bearer k", Encoding.ASCII.GetString(head.Authorization));
        Assert.Equal(trace, Encoding.ASCII.GetString(head.TraceParent));
    }

    [Fact]
    public void Read_Upgrade_GivesWhatIsNeeded()
    {
        var kind = RequestHead.Read(Encoding.ASCII.GetBytes(Get + "Sec-WebSocket-Protocol: a, pnh.v1\r\nUser-Agent: x/1 (y)\r\nOrigin: null\r\n\r\n"), out var head);

        Assert.Equal(HeadKind.Upgrade, kind);
        Assert.Equal("dGhlIHNhbXBsZSBub25jZQ==", Encoding.ASCII.GetString(head.SocketKey));
        Assert.Equal("a, pnh.v1", Encoding.ASCII.GetString(head.SocketProtocols));
        Assert.Equal("x/1 (y)", Encoding.ASCII.GetString(head.UserAgent));
    }

    [Theory]
    [InlineData(Post + "\r\n")]
    [InlineData(Get + "\r\n")]
    public void Read_CutAnywhere_NeedsMore(string text)
    {
        for (var length = 1; length < text.Length; length++)
        {
            Assert.Equal(HeadKind.NeedMore, Kind(text[..length]));
        }

        Assert.InRange(Kind(text), HeadKind.Event, HeadKind.Upgrade);
    }

    [Theory]
    [InlineData("X-Any: thing, (of) \"any\" kind\r\n")]
    [InlineData("connection: keep-alive\r\n")]
    [InlineData("User-Agent: back-end/1.0\r\n")]
    [InlineData("X-Empty:\r\n")]
    public void Read_OrdinaryField_StaysAnEvent(string field) => Assert.Equal(HeadKind.Event, Kind($"{Post}{field}\r\n"));

    [Theory]
    [InlineData("Transfer-Encoding: chunked\r\n")]
    [InlineData("Expect: 100-continue\r\n")]
    [InlineData("Content-Encoding: identity\r\n")]
    [InlineData("Upgrade: h2c\r\n")]
    [InlineData("Connection: Upgrade\r\n")]
    [InlineData("Connection: X-Any\r\n")]
    [InlineData("Host: other\r\n")]
    [InlineData("Content-Length: 12\r\n")]
    [InlineData("Authorization: Bearer k\r\n")]
    [InlineData("Content-Type: application/json\r\n")]
    [InlineData("X-Folded: a\r\n b\r\n")]
    [InlineData("X-Bare: a\n")]
    [InlineData("X-Return: a\rb\r\n")]
    [InlineData("X-Null: a\0\r\n")]
    [InlineData("X-Latin: é\r\n")]
    [InlineData("X Space: a\r\n")]
    [InlineData("X-Space : a\r\n")]
    [InlineData(": nameless\r\n")]
    [InlineData("colonless\r\n")]
    public void Read_UnusualField_IsNotOurs(string field) => Assert.Equal(HeadKind.Other, Kind($"{Post}{field}\r\n"));

    [Theory]
    [InlineData("hub:8080", "")]
    [InlineData("hub:8080", "a b")]
    [InlineData("hub:8080", "a/b")]
    [InlineData("hub:8080", "a:b")]
    [InlineData("hub:8080", "a:")]
    [InlineData("hub:8080", ":80")]
    [InlineData("hub:8080", "a:80:80")]
    [InlineData("hub:8080", "a:123456")]
    [InlineData("hub:8080", "]:[")]
    [InlineData("hub:8080", "[]")]
    [InlineData("hub:8080", "[::1")]
    [InlineData("hub:8080", "[::1]:")]
    [InlineData("hub:8080", "[::1]80")]
    [InlineData("hub:8080", "[::g]")]
    [InlineData("hub:8080", "a[::1]")]
    [InlineData("Bearer k", "")]
    [InlineData("application/json", "application/x-ndjson")]
    [InlineData("application/json", "application/json; charset=latin1")]
    [InlineData("Content-Length: 12", "Content-Length: -1")]
    [InlineData("Content-Length: 12", "Content-Length: +12")]
    [InlineData("Content-Length: 12", "Content-Length: 1 2")]
    [InlineData("Content-Length: 12", "Content-Length: 12, 12")]
    [InlineData("Content-Length: 12", "Content-Length: 65537")]
    [InlineData("Content-Length: 12", "Content-Length: 99999999999")]
    [InlineData("Content-Length: 12", "X-Length: 12")]
    [InlineData("Host: hub:8080\r\n", "")]
    [InlineData("Authorization: Bearer k\r\n", "")]
    [InlineData("Content-Type: application/json\r\n", "")]
    public void Read_ChangedEvent_IsNotOurs(string old, string changed) =>
        Assert.Equal(HeadKind.Other, Kind($"{Post}\r\n".Replace(old, changed, StringComparison.Ordinal)));

    [Theory]
    [InlineData("hub")]
    [InlineData("a_b-c.d:1")]
    [InlineData("127.0.0.1:65535")]
    [InlineData("[::1]")]
    [InlineData("[fe80::1]:8080")]
    [InlineData("[::ffff:127.0.0.1]:8080")]
    public void Read_OrdinaryHost_StaysAnEvent(string host) =>
        Assert.Equal(HeadKind.Event, Kind($"{Post}\r\n".Replace("hub:8080", host, StringComparison.Ordinal)));

    [Theory]
    [InlineData("Connection: Upgrade", "Connection: keep-alive")]
    [InlineData("Connection: Upgrade", "Connection: close, Upgrade")]
    [InlineData("Upgrade: websocket", "Upgrade: websocket, h2c")]
    [InlineData("Version: 13", "Version: 8")]
    [InlineData("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZQ")]
    [InlineData("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZTEy")]
    [InlineData("Sec-WebSocket-Key", "Sec-WebSocket-Keyring")]
    [InlineData("Host: hub\r\n", "Host: hub\r\nContent-Length: 0\r\n")]
    public void Read_ChangedUpgrade_IsNotOurs(string old, string changed) =>
        Assert.Equal(HeadKind.Other, Kind($"{Get}\r\n".Replace(old, changed, StringComparison.Ordinal)));

    [Theory]
    [InlineData("POST /v1/events?a HTTP/1.1\r\n")]
    [InlineData("POST /v1/events: HTTP/1.1\r\n")]
    [InlineData("POST /v1/events HTTP/1.0\r\n")]
    [InlineData("POST /v1/events HTTP/1.1\n")]
    [InlineData("post /v1/events HTTP/1.1\r\n")]
    [InlineData("POST  /v1/events HTTP/1.1\r\n")]
    [InlineData("GET /v1/socket/ HTTP/1.1\r\n")]
    [InlineData("PRI * HTTP/2.0\r\n")]
    [InlineData("\r\nPOST /v1/events HTTP/1.1\r\n")]
    [InlineData("\u0016\u0003\u0001")]
    public void Read_OtherFirstLine_IsKnownAtTheFirstWrongByte(string line) => Assert.Equal(HeadKind.Other, Kind(line));

    [Fact]
    public void Read_FirefoxUpgrade_IsTaken() =>
        Assert.Equal(HeadKind.Upgrade, Kind($"{Get}\r\n".Replace("Connection: Upgrade", "Connection: keep-alive, Upgrade", StringComparison.Ordinal)));

    [Fact]
    public void Read_AtTheBounds_IsTakenAndOverThemNot()
    {
        var most = Post + string.Concat(Enumerable.Repeat("X-Any: a\r\n", RequestHead.MaxFields - 4));
        var longest = $"{Post}X-Long: ";
        longest += new string('a', RequestHead.MaxBytes - longest.Length - 4);

        Assert.Equal((HeadKind.Event, HeadKind.Other), (Kind($"{most}\r\n"), Kind($"{most}X-Any: a\r\n\r\n")));
        Assert.Equal((HeadKind.Event, HeadKind.Other), (Kind($"{longest}\r\n\r\n"), Kind($"{longest}a\r\n\r\n")));
        Assert.Equal((HeadKind.NeedMore, HeadKind.Other), (Kind(longest), Kind(longest + "aaaa")));
    }

    private static HeadKind Kind(string text) => RequestHead.Read(Encoding.Latin1.GetBytes(text), out _);
}
