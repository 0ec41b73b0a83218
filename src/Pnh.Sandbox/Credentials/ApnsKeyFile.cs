using System.Security.Cryptography;
using System.Text.Json;
using Pnh.Sandbox.Contract;

namespace Pnh.Sandbox.Credentials;

/// <summary>The pair of files that stands for an Apple developer account: <c>AuthKey_KEYID.p8</c> and <c>apns.json</c> with the two ids.</summary>
internal static class ApnsKeyFile
{
    private const string AccountFileName = "apns.json";

    // Apple's ids are ten upper-case letters and digits.
    private const string IdCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    private const int IdLength = 10;

    public static string PathOf(string folder, string keyId) => Path.Combine(folder, $"AuthKey_{keyId}.p8");

    public static ApnsKey LoadOrCreate(string folder)
    {
        string accountPath = Path.Combine(folder, AccountFileName);
        string? account = PrivateFile.Read(accountPath);
        if (account is null)
        {
            return Create(folder, accountPath);
        }

        (string teamId, string keyId) = ReadAccount(accountPath, account);
        string keyPath = PathOf(folder, keyId);
        string pem = PrivateFile.Read(keyPath)
            ?? throw new SandboxException($"{keyPath} is missing. Delete {accountPath} too: the next start makes a new pair.");
        return new ApnsKey(teamId, keyId, P256KeyFile.Parse(keyPath, pem));
    }

    private static ApnsKey Create(string folder, string accountPath)
    {
        string teamId = RandomNumberGenerator.GetString(IdCharacters, IdLength);
        string keyId = RandomNumberGenerator.GetString(IdCharacters, IdLength);
        ECDsa key = P256KeyFile.Create(PathOf(folder, keyId));
        PrivateFile.Write(accountPath, $"{{\"team_id\":\"{teamId}\",\"key_id\":\"{keyId}\"}}\n");
        return new ApnsKey(teamId, keyId, key);
    }

    private static (string TeamId, string KeyId) ReadAccount(string path, string text)
    {
        try
        {
            using JsonDocument json = JsonDocument.Parse(text);
            string teamId = json.RootElement.GetProperty("team_id").GetString() ?? "";
            string keyId = json.RootElement.GetProperty("key_id").GetString() ?? "";
            return IsId(teamId) && IsId(keyId) ? (teamId, keyId) : throw new FormatException("Ids of ten characters expected.");
        }
        catch (Exception e) when (e is JsonException or KeyNotFoundException or InvalidOperationException or FormatException)
        {
            throw PrivateFile.Damaged(path, e);
        }
    }

    private static bool IsId(string id) => id.Length == IdLength && id.All(IdCharacters.Contains);
}
