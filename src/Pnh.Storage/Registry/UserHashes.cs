using System.Security.Cryptography;
using System.Text;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Files;

namespace Pnh.Storage.Registry;

/// <summary>
/// What stands for a user that is gone: a hash (HMAC-SHA-256, its first 16 bytes) under a key that stands in a file of its own, which is in no copy of the folder. Thread-safe.
/// </summary>
/// <param name="folder">Where the key is, made when it is first needed; null = a copy that is only read: nobody is known, and nothing written.</param>
internal sealed class UserHashes(string? folder)
{
    /// <summary>The key's file.</summary>
    internal const string KeyName = "gone.key";

    /// <summary>Of a hash.</summary>
    internal const int Bytes = 16;

    private const int KeyBytes = 32;
    private byte[]? _key;

    /// <summary>Under a key that the engine keeps itself.</summary>
    public static UserHashes Under(byte[] key) => new(folder: null) { _key = key };

    /// <summary>True = only read.</summary>
    public bool IsOfCopy => folder is null && _key is null;

    /// <summary>The user's hash. Throws <see cref="StoreUnavailableException"/> when there is no key and none can be made.</summary>
    public byte[] Of(UserKey user) => Hash(Key(), user);

    /// <summary>The same; null = there is no key, so nothing stands under a hash.</summary>
    public byte[]? Find(UserKey user) => FindKey() is { } key ? Hash(key, user) : null;

    private static byte[] Hash(byte[] key, UserKey user) => HMACSHA256.HashData(key, Encoding.UTF8.GetBytes($"{user.App}\n{user.User}"))[..Bytes];

    private byte[] Key()
    {
        if (FindKey() is { } key)
        {
            return key;
        }

        try
        {
            key = DataFolder.ReadOrCreateSecret(folder ?? throw new InvalidOperationException("A copy is only read."), KeyName, KeyBytes);
        }
        catch (DataFolderException fault)
        {
            throw new StoreUnavailableException(fault.Message, fault);
        }

        Volatile.Write(ref _key, key);
        return key;
    }

    private byte[]? FindKey()
    {
        if (Volatile.Read(ref _key) is null && folder is not null && File.Exists(Path.Combine(folder, KeyName)))
        {
            Volatile.Write(ref _key, DataFolder.ReadOrCreateSecret(folder, KeyName, KeyBytes));
        }

        return Volatile.Read(ref _key);
    }
}
