using System.Buffers.Text;
using System.Security.Cryptography;
using Pnh.Core.Stores;

namespace Pnh.Api.Access;

/// <summary>What is kept of a publisher key: enough to recognise it, not enough to use it.</summary>
/// <param name="Hash">SHA-256 of the secret.</param>
/// <param name="App">The app it speaks for.</param>
/// <param name="Scopes">What it may do.</param>
internal sealed record PublisherKey(KeyHash Hash, string App, Scope Scopes)
{
    /// <summary>Random bytes of a new key: 256 bits, 43 characters in base64url.</summary>
    private const int SecretBytes = 32;

    /// <summary>A new key and its secret, <c>pnh_&lt;app&gt;_&lt;43 characters of base64url&gt;</c>. The secret exists only in the result.</summary>
    public static (string Secret, PublisherKey Key) Create(string app, Scope scopes)
    {
        var secret = $"pnh_{app}_{Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(SecretBytes))}";
        return (secret, new(KeyHash.Of(secret), app, scopes));
    }

    /// <summary>A key as the store has it. A scope that this version does not know is left out: it allows nothing here.</summary>
    public static PublisherKey Of(StoredKey stored)
    {
        var scopes = Scope.None;
        foreach (var name in stored.Scopes)
        {
            scopes |= Access.Scopes.TryParse(name, out var scope, out _) ? scope : Scope.None;
        }

        return new(KeyHash.FromBytes(stored.Hash.Span), stored.App, scopes);
    }

    /// <summary>The key as the store keeps it.</summary>
    public StoredKey ToStored(DateTimeOffset now) => new(App, Hash.ToBytes(), Scopes.Text().Split(' '), now);
}
