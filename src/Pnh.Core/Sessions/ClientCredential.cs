namespace Pnh.Core.Sessions;

/// <summary>A client token and whom it speaks for, until its session is open: another node checks the token too. Nothing keeps it or logs it.</summary>
public sealed class ClientCredential(ClientIdentity identity, string token)
{
    /// <summary>Whom it speaks for, as this node checked it.</summary>
    public ClientIdentity Identity { get; } = identity;

    /// <summary>The token, a secret.</summary>
    public string Token { get; } = token;
}

/// <summary>What the hub made of a client's token.</summary>
/// <param name="Proof">To be shown whenever the session is told of; opaque, of at most 16 kB. Empty = the hub is in this process and asks for none.</param>
/// <param name="Refusal">Null = the hub takes the token; else why it does not, as <see cref="IClientAuthenticator.Authenticate"/> says.</param>
public readonly record struct SessionPass(ReadOnlyMemory<byte> Proof, string? Refusal);
