using System.Security.Cryptography;
using Pnh.Sandbox.Contract;

namespace Pnh.Sandbox.Credentials;

/// <summary>The public half of a provider key, as APNs knows it.</summary>
/// <param name="TeamId">Ten characters: the <c>iss</c> of its tokens.</param>
/// <param name="KeyId">Ten characters: the <c>kid</c> of its tokens.</param>
/// <param name="PublicKey">P-256. Not thread-safe: lock it.</param>
/// <param name="Environment">The only environment it is good for; null for the older keys of both.</param>
/// <param name="Topics">The bundle ids of a topic-specific key; null for a team-scoped one.</param>
internal sealed record ApnsKey(
    string TeamId, string KeyId, ECDsa PublicKey, ApnsEnvironment? Environment = null, IReadOnlyCollection<string>? Topics = null)
{
    public bool Verify(ReadOnlySpan<byte> data, ReadOnlySpan<byte> signature)
    {
        lock (PublicKey)
        {
            return PublicKey.VerifyData(data, signature, HashAlgorithmName.SHA256, DSASignatureFormat.IeeeP1363FixedFieldConcatenation);
        }
    }
}
