using System.Buffers;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using Pnh.Sandbox.Credentials;

namespace Pnh.Sandbox.WebPush;

/// <summary>A browser's push subscription as its page gets it (W3C Push API), bound to the VAPID key of <see cref="SandboxCredentials.VapidKeyFile"/>.</summary>
/// <param name="Endpoint">Where to post.</param>
/// <param name="P256dh">The browser's public key, base64url.</param>
/// <param name="Auth">The authentication secret, base64url.</param>
public sealed record BrowserSubscription(Uri Endpoint, string P256dh, string Auth)
{
    private static readonly JsonWriterOptions Writing = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    /// <summary>What <c>JSON.stringify(subscription)</c> gives, and the <c>webpush</c> of a device takes.</summary>
    public string ToJson()
    {
        ArrayBufferWriter<byte> buffer = new();
        using (Utf8JsonWriter json = new(buffer, Writing))
        {
            json.WriteStartObject();
            json.WriteString("endpoint", Endpoint.AbsoluteUri);
            json.WriteNull("expirationTime");
            json.WriteStartObject("keys");
            json.WriteString("p256dh", P256dh);
            json.WriteString("auth", Auth);
            json.WriteEndObject();
            json.WriteEndObject();
        }

        return Encoding.UTF8.GetString(buffer.WrittenSpan);
    }
}
