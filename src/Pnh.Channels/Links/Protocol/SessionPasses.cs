using System.Security.Cryptography;
using System.Text;
using Pnh.Core.Sessions;
using Pnh.Core.Timing;

namespace Pnh.Channels.Links.Protocol;

/// <summary>
/// Makes and reads passes: a hub's word that a client's token opened a session, which an edge shows with everything that it says of the session. A pass is an HMAC (RFC 2104, SHA-256, its first 16 bytes)
/// over app, user, device, session, the token's end and its topics, under a key that edges never see; then end and topics. Thread-safe.
/// </summary>
internal sealed class SessionPasses(byte[] key, IClientAuthenticator tokens, TimeProvider time)
{
    /// <summary>Bytes of the key.</summary>
    public const int KeyBytes = 32;

    private const int SealBytes = 16;
    private readonly TimeProvider _time = SteadyClock.WallOf(time); // as tokens go

    /// <summary>Checks the token and makes the pass.</summary>
    public SessionPass Admit(in SessionKey session, string token)
    {
        if (tokens.Authenticate(token, out var refusal) is not { } client)
        {
            return new(default, refusal);
        }

        return client.App == session.App && client.User == session.User && (client.Device ?? session.Device) == session.Device
            ? Admit(session, client)
            : new(default, "other-user");
    }

    /// <summary>Makes the pass for a client whose token an edge has checked.</summary>
    public SessionPass Admit(in SessionKey session, ClientIdentity client)
    {
        var said = Write(writer =>
        {
            writer.Write(client.ExpiresAt.UtcTicks);
            writer.Write7BitEncodedInt(client.Topics.Count);
            foreach (var topic in client.Topics)
            {
                writer.Write(topic);
            }
        });
        return new((byte[])[.. Seal(session, said), .. said], null);
    }

    /// <summary>Whom the pass lets the session speak for; null = it is of another session, of no hub of this cluster, or its token ended longer ago than <paramref name="grace"/>.</summary>
    public ClientIdentity? Read(in SessionKey session, ReadOnlySpan<byte> pass, TimeSpan grace)
    {
        if (pass.Length <= SealBytes || !CryptographicOperations.FixedTimeEquals(Seal(session, pass[SealBytes..]), pass[..SealBytes]))
        {
            return null;
        }

        using var reader = new BinaryReader(new MemoryStream(pass[SealBytes..].ToArray()), Encoding.UTF8);
        var end = new DateTimeOffset(reader.ReadInt64(), TimeSpan.Zero);
        var topics = new string[reader.Read7BitEncodedInt()];
        for (var i = 0; i < topics.Length; i++)
        {
            topics[i] = reader.ReadString();
        }

        var client = new ClientIdentity(session.App, session.User, session.Device, topics, end);
        return IsOver(client, grace) ? null : client;
    }

    /// <summary>True when the client's token ended longer ago than <paramref name="grace"/>.</summary>
    public bool IsOver(ClientIdentity client, TimeSpan grace) => _time.GetUtcNow() - client.ExpiresAt > grace;

    private byte[] Seal(SessionKey session, ReadOnlySpan<byte> said)
    {
        var names = Write(writer =>
        {
            writer.Write(session.App);
            writer.Write(session.User);
            writer.Write(session.Device);
            writer.Write(session.Session);
        });
        return HMACSHA256.HashData(key, (byte[])[.. names, .. said])[..SealBytes];
    }

    // Each text with its length before it: no two lists of texts are the same bytes.
    private static byte[] Write(Action<BinaryWriter> write)
    {
        using var bytes = new MemoryStream();
        using var writer = new BinaryWriter(bytes, Encoding.UTF8);
        write(writer);
        writer.Flush();
        return bytes.ToArray();
    }
}
