using System.Buffers.Text;
using System.Text.Json;

namespace Pnh.Client.Sockets;

/// <summary>A token is asked for once in its life, and used until it ends or the hub refuses it. One thread at a time.</summary>
internal sealed class Tokens(PnhSessionOptions options)
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(15);
    private string? _token;
    private DateTimeOffset _until;

    /// <summary>Whom the token speaks for: app and user.</summary>
    public (string App, string User) Speaker { get; private set; }

    /// <summary>Throws when there is none now.</summary>
    public async ValueTask<string> GetAsync(CancellationToken cancellationToken)
    {
        if (_token is { } known && options.Time.GetUtcNow() < _until)
        {
            return known;
        }

        using var patience = new CancellationTokenSource(Patience, options.Time);
        using var both = CancellationTokenSource.CreateLinkedTokenSource(patience.Token, cancellationToken);
        var token = (await options.Token(both.Token).AsTask().WaitAsync(Patience, options.Time, cancellationToken).ConfigureAwait(false))?.Trim();
        Read(token ?? "");
        return _token = token!;
    }

    /// <summary>The hub does not take it.</summary>
    public void Refuse() => _token = null;

    private void Read(string token)
    {
        try
        {
            var parts = token.Split('.');
            using var claims = JsonDocument.Parse(Base64Url.DecodeFromChars(parts is [{ Length: > 0 }, _, { Length: > 0 }] ? parts[1] : ""));
            var root = claims.RootElement;
            var now = options.Time.GetUtcNow();
            var expires = TimeOf(root, "exp") ?? 0;
            var life = expires - (TimeOf(root, "iat") ?? now.ToUnixTimeSeconds());

            // By its age too, as this clock may be behind.
            _until = DateTimeOffset.UnixEpoch.AddSeconds(Math.Min(expires, now.ToUnixTimeSeconds() + life));
            Speaker = (root.TryGetProperty("aud", out var app) ? app.GetRawText() : "", root.TryGetProperty("sub", out var user) ? user.GetRawText() : "");
        }
        catch (Exception fault) when (fault is FormatException or JsonException or InvalidOperationException)
        {
            throw new FormatException("What was given as token is no JWT.", fault);
        }
    }

    private static double? TimeOf(JsonElement claims, string name) =>
        claims.TryGetProperty(name, out var value) && value.ValueKind == JsonValueKind.Number ? Math.Clamp(value.GetDouble(), 0, 253_402_300_799) : null;
}
