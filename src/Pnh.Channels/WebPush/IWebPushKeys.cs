namespace Pnh.Channels.WebPush;

/// <summary>The keys for which browsers make their subscriptions. Thread-safe.</summary>
public interface IWebPushKeys
{
    /// <summary>The app's public key as a page's <c>applicationServerKey</c>: 65 bytes in base64url without padding (RFC 8292 section 3.2). Null = the app has no Web Push account.</summary>
    string? FindKey(string app);
}
