using System.Buffers.Text;
using System.Security.Cryptography;
using Pnh.Channels.WebSockets.Protocol;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Server;

/// <summary>How a hello becomes a session: one that goes on, here or from another node, or a new one.</summary>
internal sealed partial class Conversation
{
    /// <summary>128 random bits: a session id cannot be guessed, since with a token it allows to resume.</summary>
    private const int SessionIdBytes = 16;

    private static readonly FrameProblem TooManySessions = new("too-many-sessions", "The user has as many sessions as one user may. Close one, or wait until one ends.");

    private async ValueTask OpenAsync(ClientFrame hello, CancellationToken cancellationToken)
    {
        _hasHello = true;
        if (Admission.Check(hello, _header, _peer.Origin, _parts, out var client) is { } refusal)
        {
            Close(refusal.Problem, refusal.Close);
            return;
        }

        (_speaker, _header) = (client.Identity, null);
        _peer = _peer with { HearsMissed = hello.Knows.HasFlag(Knowledge.Missed) };
        try
        {
            if (!await TryResumeAsync(hello, client, cancellationToken))
            {
                await OpenNewAsync(hello, client, cancellationToken);
            }
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            _transport.Close(SessionClose.Drain);
        }
    }

    // False = a new session: of an unknown, foreign or ended one the client learns no more than that.
    private async ValueTask<bool> TryResumeAsync(ClientFrame hello, ClientCredential client, CancellationToken cancellationToken)
    {
        if (hello.ResumeSession is not { } id)
        {
            return false;
        }

        var identity = client.Identity;
        var key = new SessionKey(identity.App, identity.User, hello.Device!, id);
        var known = _parts.Sessions.Find(id, identity.App, identity.User, hello.Device!);
        if (await TryPassAsync(key, client, cancellationToken) is not { } pass)
        {
            return true;
        }

        if (known is not { } session)
        {
            return await TryClaimAsync(key, hello, identity, pass);
        }

        if (session.HasNewer(_transport))
        {
            _transport.Close(SessionClose.Replaced);
            return true;
        }

        var state = hello.State ?? SessionState.Active;
        if (await session.TryResumeAsync(_transport, _peer, hello.ResumeSeq!.Value, state, identity, cancellationToken) is not { } confirmed)
        {
            return false;
        }

        Carry(session, identity, hello, confirmed, resumed: true);
        return true;
    }

    // Null = the hub does not take the token, and the client was told.
    private async ValueTask<ReadOnlyMemory<byte>?> TryPassAsync(SessionKey key, ClientCredential client, CancellationToken cancellationToken)
    {
        var pass = await _parts.Events.AdmitAsync(key, client, cancellationToken);
        if (pass.Refusal is not { } reason)
        {
            return pass.Proof;
        }

        var refusal = Admission.Refuse(reason);
        Close(refusal.Problem, refusal.Close);
        return null;
    }

    // Another node may hold it. What it gives away has to be taken: no cancellation from here on.
    private async ValueTask<bool> TryClaimAsync(SessionKey key, ClientFrame hello, ClientIdentity identity, ReadOnlyMemory<byte> pass)
    {
        var seq = hello.ResumeSeq!.Value;
        var since = _parts.CameAt(_transport);
        if (await _parts.Events.ClaimAsync(key, seq, since, pass) is not { } given)
        {
            return false;
        }

        var session = new Session(key, hello.State ?? SessionState.Active, since, _peer, _parts, seq);
        string[] topics = [.. given.Where(identity.MayJoin)]; // the token of now may allow less
        session.Topics.Take(topics);
        _opened = session;
        if (!await _parts.Events.ReopenedAsync(
            new SessionReopened(new SessionOpened(key, session.State, session, since) { Pass = pass }, IsDetached: false, topics, []), CancellationToken.None))
        {
            _transport.Close(SessionClose.Replaced);
            return true;
        }

        Carry(session, identity, hello, seq, resumed: true);
        return true;
    }

    private async ValueTask OpenNewAsync(ClientFrame hello, ClientCredential client, CancellationToken cancellationToken)
    {
        var identity = client.Identity;
        var since = _parts.CameAt(_transport);
        var id = Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(SessionIdBytes));
        var key = new SessionKey(identity.App, identity.User, hello.Device!, id);
        if (await TryPassAsync(key, client, cancellationToken) is not { } pass)
        {
            return;
        }

        var session = new Session(key, hello.State ?? SessionState.Active, since, _peer, _parts);

        // The hub knows the session before the client does: an event that the client sends itself after welcome must find it.
        var isTaken = true;
        try
        {
            isTaken = await _parts.Events.OpenedAsync(new SessionOpened(key, session.State, session, since) { Pass = pass }, cancellationToken);
        }
        finally
        {
            _opened = isTaken ? session : null; // also when the hub failed: it may know the session, and must hear of its end
        }

        if (!isTaken)
        {
            Close(TooManySessions, SessionClose.Overloaded);
            return;
        }

        Carry(session, identity, hello, seq: 0, resumed: false);
    }

    private void Carry(Session session, ClientIdentity identity, in ClientFrame hello, long seq, bool resumed)
    {
        _opened = session;
        session.Attach(_transport); // before the client knows its name: it may come back with that at once, on another connection
        if (hello.Beat > 0)
        {
            _transport.Beat(hello.Beat);
        }

        _knows = hello.Knows;
        _transport.SendControl(ControlFrames.Welcome(session.Key.Session, seq, resumed, hello.Beat, _knows, session.TopicNames));
        _transport.Carry(session, identity.ExpiresAt);
    }
}
