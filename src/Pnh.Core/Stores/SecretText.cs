using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;

namespace Pnh.Core.Stores;

/// <summary>
/// A secret that people copy out of a file: base64url text. Older files hold bytes, whose base64url text is the secret. Random bytes look like text once in 2^64 times.
/// </summary>
public static class SecretText
{
    /// <summary>Fewest characters of one.</summary>
    public const int Fewest = 32;

    // 192 bits, and 32 characters: as many bytes as older versions want to find in the file.
    private const int RandomBytes = 24;

    /// <summary>A new one of 32 characters.</summary>
    public static string Create() => Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(RandomBytes));

    /// <summary>True when the file holds text; a line end behind it does not matter.</summary>
    public static bool IsText(ReadOnlySpan<byte> file) => file.TrimEnd("\r\n"u8) is { Length: > 0 } text && !text.ContainsAnyExcept(Base64UrlCharacters);

    /// <summary>The secret that the file's content stands for; fewer than 32 characters are no secret.</summary>
    public static string Read(ReadOnlySpan<byte> file) => IsText(file) ? Encoding.ASCII.GetString(file.TrimEnd("\r\n"u8)) : Base64Url.EncodeToString(file);

    private static readonly System.Buffers.SearchValues<byte> Base64UrlCharacters =
        System.Buffers.SearchValues.Create("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"u8);
}
