namespace Pnh.Channels.WebPush;

/// <summary>The keys for which browsers make their subscriptions. Thread-safe.</summary>
public interface IWebPushKeys
{
    /// <summary>The name of the channel.</summary>
    const string Channel = "webpush";

    /// <summary>The app's public key as a page's <c>applicationServerKey</c>: 65 bytes in base64url without padding (RFC 8292 section 3.2). Null = the app has no Web Push account.</summary>
    string? FindKey(string app);

    /// <summary>A MAC over the text (HMAC-SHA256, 32 bytes) under a key that only this app's hubs can have: it is made of the private key (RFC 5869), and ends with it. Null = the app has no Web Push account.</summary>
    byte[]? FindMac(string app, ReadOnlySpan<byte> text);
}
