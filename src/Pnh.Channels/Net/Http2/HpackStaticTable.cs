using System.Collections.Frozen;
using System.Text;

namespace Pnh.Channels.Net.Http2;

/// <summary>The 61 entries that both sides know (RFC 7541 appendix A), numbered from 1.</summary>
internal static class HpackStaticTable
{
    public const int Count = 61;

    public const int Authority = 1;
    public const int MethodPost = 3;
    public const int Path = 4;
    public const int SchemeHttp = 6;
    public const int SchemeHttps = 7;
    public const int ContentLength = 28;

    private static readonly (string Name, string Value)[] Entries =
    [
        (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"), (":scheme", "http"),
        (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"), (":status", "304"), (":status", "400"),
        (":status", "404"), (":status", "500"), ("accept-charset", ""), ("accept-encoding", "gzip, deflate"), ("accept-language", ""),
        ("accept-ranges", ""), ("accept", ""), ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""),
        ("cache-control", ""), ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
        ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""), ("date", ""), ("etag", ""), ("expect", ""),
        ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""), ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""),
        ("if-unmodified-since", ""), ("last-modified", ""), ("link", ""), ("location", ""), ("max-forwards", ""), ("proxy-authenticate", ""),
        ("proxy-authorization", ""), ("range", ""), ("referer", ""), ("refresh", ""), ("retry-after", ""), ("server", ""), ("set-cookie", ""),
        ("strict-transport-security", ""), ("transfer-encoding", ""), ("user-agent", ""), ("vary", ""), ("via", ""), ("www-authenticate", ""),
    ];

    private static readonly (byte[] Name, byte[] Value)[] Bytes =
        [.. Entries.Select(entry => (Encoding.ASCII.GetBytes(entry.Name), Encoding.ASCII.GetBytes(entry.Value)))];

    private static readonly FrozenDictionary<string, int> FirstByName = Entries
        .Select((entry, at) => (entry.Name, Index: at + 1))
        .GroupBy(entry => entry.Name, StringComparer.Ordinal)
        .ToFrozenDictionary(same => same.Key, same => same.First().Index, StringComparer.Ordinal);

    public static ReadOnlySpan<byte> NameAt(int index) => Bytes[index - 1].Name;

    public static ReadOnlySpan<byte> ValueAt(int index) => Bytes[index - 1].Value;

    /// <summary>The first entry of that name; 0 = none.</summary>
    public static int IndexOf(string name) => FirstByName.GetValueOrDefault(name);

    /// <summary>The entry of that name and value, given the first of the name; 0 = none.</summary>
    public static int IndexOf(int first, string name, string value)
    {
        for (var at = first - 1; at >= 0 && at < Count && Entries[at].Name == name; at++)
        {
            if (Entries[at].Value == value)
            {
                return at + 1;
            }
        }

        return 0;
    }
}
