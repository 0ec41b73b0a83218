using System.Globalization;
using Pnh.Channels.Net.Http2;

namespace Pnh.Channels.Tests.Http2;

/// <summary>RFC 7541 appendix C, byte for byte, in both directions.</summary>
public sealed class HpackVectorTests
{
    private static readonly string[] FirstRequest = [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"];
    private static readonly string[] SecondRequest = [.. FirstRequest, "cache-control: no-cache"];
    private static readonly string[] ThirdRequest =
        [":method: GET", ":scheme: https", ":path: /index.html", ":authority: www.example.com", "custom-key: custom-value"];
    private static readonly string[] FirstResponse =
        [":status: 302", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:21 GMT", "location: https://www.example.com"];
    private static readonly string[] SecondResponse = [":status: 307", .. FirstResponse[1..]];
    private static readonly string[] ThirdResponse =
    [
        ":status: 200", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:22 GMT", "location: https://www.example.com",
        "content-encoding: gzip", "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
    ];

    [Theory]
    [InlineData(10, 5, "0a")]
    [InlineData(1337, 5, "1f9a0a")]
    [InlineData(42, 8, "2a")]
    public void C1_Integers_AreEncodedAsShown(int value, int prefix, string hex)
    {
        var bytes = new byte[HpackInteger.MaxBytes];
        var length = HpackInteger.Write(bytes, value, prefix, 0);
        Assert.Equal(hex, Convert.ToHexStringLower(bytes.AsSpan(0, length)));
        var at = 0;
        Assert.True(HpackInteger.TryRead(bytes.AsSpan(0, length), ref at, prefix, out var read));
        Assert.Equal((value, length), (read, at));
    }

    [Theory]
    [InlineData("400a637573746f6d2d6b65790d637573746f6d2d686561646572", "custom-key: custom-header", true)]
    [InlineData("040c2f73616d706c652f70617468", ":path: /sample/path", false)]
    [InlineData("82", ":method: GET", true)]
    public void C2_SingleHeaders_AreCodedAsShown(string hex, string header, bool isShared)
    {
        Assert.Equal([header], Decoded(new HpackDecoder(4096, 16_384), hex));
        Assert.Equal(hex, Encoded(new HpackEncoder(huffman: false), [header], isShared));
    }

    [Fact]
    public void C23_NeverIndexed_IsDecodedAndNotKept()
    {
        var decoder = new HpackDecoder(4096, 16_384);
        Assert.Equal(["password: secret"], Decoded(decoder, "100870617373776f726406736563726574"));
        Assert.Equal(0, decoder.Table.Count);
    }

    [Fact]
    public void C3_RequestsWithoutHuffman_AreCodedAsShown() => CodesRequests(
        huffman: false,
        "828684410f7777772e6578616d706c652e636f6d",
        "828684be58086e6f2d6361636865",
        "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565");

    [Fact]
    public void C4_RequestsWithHuffman_AreCodedAsShown() => CodesRequests(
        huffman: true,
        "828684418cf1e3c2e5f23a6ba0ab90f4ff",
        "828684be5886a8eb10649cbf",
        "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf");

    [Fact]
    public void C5_ResponsesWithoutHuffman_AreCodedAsShown() => CodesResponses(
        huffman: false,
        "4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e1768747470733a2f2f7777772e6578616d706c652e636f6d",
        "4803333037c1c0bf",
        "88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31");

    [Fact]
    public void C6_ResponsesWithHuffman_AreCodedAsShown() => CodesResponses(
        huffman: true,
        "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3",
        "4883640effc1c0bf",
        "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007");

    private static void CodesRequests(bool huffman, params string[] blocks)
    {
        var decoder = new HpackDecoder(4096, 16_384);
        var encoder = new HpackEncoder(huffman);
        Codes(decoder, encoder, blocks[0], FirstRequest, 57);
        Codes(decoder, encoder, blocks[1], SecondRequest, 110);
        Codes(decoder, encoder, blocks[2], ThirdRequest, 164);
    }

    /// <summary>With a table of 256 bytes, so that entries are evicted.</summary>
    private static void CodesResponses(bool huffman, params string[] blocks)
    {
        var decoder = new HpackDecoder(256, 16_384);
        var encoder = new HpackEncoder(huffman);
        encoder.Limit(256);
        encoder.Begin(new FrameBuffer(16));
        Codes(decoder, encoder, blocks[0], FirstResponse, 222);
        Codes(decoder, encoder, blocks[1], SecondResponse, 222);
        Codes(decoder, encoder, blocks[2], ThirdResponse, 215);
    }

    private static void Codes(HpackDecoder decoder, HpackEncoder encoder, string hex, string[] headers, int tableSize)
    {
        Assert.Equal(headers, Decoded(decoder, hex));
        Assert.Equal(tableSize, decoder.Table.Size);
        Assert.Equal(hex, Encoded(encoder, headers, isShared: true));
        Assert.Equal(tableSize, encoder.Table.Size);
    }

    private static List<string> Decoded(HpackDecoder decoder, string hex)
    {
        var sink = new HeaderLines();
        Assert.Equal(HpackResult.Decoded, decoder.Decode(Convert.FromHexString(hex), sink));
        return sink.Lines;
    }

    private static string Encoded(HpackEncoder encoder, string[] headers, bool isShared)
    {
        var target = new FrameBuffer(16);
        encoder.Begin(target);
        foreach (var header in headers)
        {
            var colon = header.IndexOf(": ", 1, StringComparison.Ordinal);
            encoder.Header(target, header[..colon], header[(colon + 2)..], isShared);
        }

        return Convert.ToHexString(target.Written).ToLower(CultureInfo.InvariantCulture);
    }
}
