using System.Buffers.Text;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;

namespace Pnh.LoadTest.Wire;

/// <summary>Makes client tokens (RFC 7519, HS256) of one app; each lives for two hours from when this was made.</summary>
internal sealed class ClientToken(string app, string secret)
{
    private readonly byte[] _secret = Encoding.UTF8.GetBytes(secret);
    private readonly string _header = Base64Url.EncodeToString("""{"alg":"HS256","typ":"JWT"}"""u8);
    private readonly long _expires = TimeProvider.System.GetUtcNow().ToUnixTimeSeconds() + 7200;

    /// <param name="user">Whose it is.</param>
    /// <param name="topics">What the user may join, a pattern; null = nothing.</param>
    public string Of(string user, string? topics = null)
    {
        var rights = topics is null ? "" : $",\"topics\":[\"{topics}\"]";
        var claims = string.Create(CultureInfo.InvariantCulture, $$"""{"sub":"{{user}}","aud":"{{app}}","exp":{{_expires}}{{rights}}}""");
        var signed = _header + "." + Base64Url.EncodeToString(Encoding.ASCII.GetBytes(claims));
        return signed + "." + Base64Url.EncodeToString(HMACSHA256.HashData(_secret, Encoding.ASCII.GetBytes(signed)));
    }
}
