using System.Buffers.Text;
using System.Security.Cryptography;
using Pnh.Storage.Files;

namespace Pnh.Api.Access;

/// <summary>
/// The secret that shows that its holder may read the data folder: a file there, mode 0600, made by the hub's first start. Commands on the
/// same machine use it to talk to the running hub.
/// </summary>
internal static class OperatorSecret
{
    /// <summary>Name of the file in the data folder.</summary>
    public const string FileName = "operator.secret";

    /// <summary>
    /// Reads the secret, making it when there is none. Throws <see cref="IOException"/> or <see cref="UnauthorizedAccessException"/> when the
    /// folder cannot be used.
    /// </summary>
    public static string ReadOrCreate(string dataFolder)
    {
        var file = Path.Combine(dataFolder, FileName);
        if (TryRead(file) is { } known)
        {
            return known;
        }

        var secret = $"pnh_{Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(32))}";
        ReplacedFile.Write(file, System.Text.Encoding.ASCII.GetBytes(secret));
        return secret;
    }

    /// <summary>The secret of a hub that has started on this folder before; null when there is none. Throws when it may not be read.</summary>
    public static string? Read(string dataFolder) => TryRead(Path.Combine(dataFolder, FileName));

    private static string? TryRead(string file) =>
        File.Exists(file) && File.ReadAllText(file).Trim() is { Length: > 0 } secret ? secret : null;
}
