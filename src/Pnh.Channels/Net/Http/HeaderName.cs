using System.Text;

namespace Pnh.Channels.Net.Http;

/// <summary>How a header's value moves from one request to the next on a connection: what a header compressor (RFC 7541 section 6.2) needs to know.</summary>
internal enum HeaderChange
{
    /// <summary>Another value with every request: literal, never worth a place in the peer's table.</summary>
    EachRequest,

    /// <summary>A handful of values, or one for the connection's life: worth a place.</summary>
    Seldom,

    /// <summary>One value for an hour, secret and long. Apple asks for a literal without indexing; elsewhere worth a place, as nobody else's headers share the table.</summary>
    Credential,
}

/// <summary>A request header that PNH sends, known in advance: its name is encoded once per process.</summary>
internal sealed class HeaderName
{
    public static readonly HeaderName Authorization = new(0, "authorization", HeaderChange.Credential);
    public static readonly HeaderName ContentType = new(1, "content-type", HeaderChange.Seldom);
    public static readonly HeaderName ContentEncoding = new(2, "content-encoding", HeaderChange.Seldom);
    public static readonly HeaderName ApnsId = new(3, "apns-id", HeaderChange.EachRequest);
    public static readonly HeaderName ApnsPushType = new(4, "apns-push-type", HeaderChange.Seldom);
    public static readonly HeaderName ApnsTopic = new(5, "apns-topic", HeaderChange.Seldom);
    public static readonly HeaderName ApnsPriority = new(6, "apns-priority", HeaderChange.Seldom);
    public static readonly HeaderName ApnsExpiration = new(7, "apns-expiration", HeaderChange.EachRequest);
    public static readonly HeaderName ApnsCollapseId = new(8, "apns-collapse-id", HeaderChange.EachRequest);
    public static readonly HeaderName Ttl = new(9, "ttl", HeaderChange.EachRequest);
    public static readonly HeaderName Urgency = new(10, "urgency", HeaderChange.Seldom);
    public static readonly HeaderName Topic = new(11, "topic", HeaderChange.EachRequest);
    public static readonly HeaderName WnsCachePolicy = new(12, "x-wns-cache-policy", HeaderChange.Seldom);

    /// <summary>How many there are: the size of a table by <see cref="Index"/>.</summary>
    public const int Count = 13;

    private HeaderName(int index, string text, HeaderChange change)
    {
        Index = index;
        Text = text;
        Utf8 = Encoding.ASCII.GetBytes(text);
        Change = change;
    }

    /// <summary>0 to <see cref="Count"/> - 1.</summary>
    public int Index { get; }

    /// <summary>Lower case, as HTTP/2 wants it.</summary>
    public string Text { get; }

    /// <summary>The same as bytes.</summary>
    public byte[] Utf8 { get; }

    public HeaderChange Change { get; }
}
