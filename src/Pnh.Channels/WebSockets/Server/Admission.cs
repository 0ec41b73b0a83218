using Pnh.Channels.WebSockets.Protocol;
using Pnh.Core.Sessions;
using Pnh.Core.Timing;

namespace Pnh.Channels.WebSockets.Server;

/// <summary>Why a hello was turned away: what the error frame says, and the close code.</summary>
internal sealed record AdmissionRefusal(FrameProblem Problem, SessionClose Close);

/// <summary>Decides whom a hello speaks for.</summary>
internal static class Admission
{
    private static readonly AdmissionRefusal NoToken = Unauthorized("no-token", "Neither an Authorization header nor a token in hello.");
    private static readonly AdmissionRefusal OtherUser = Unauthorized("other-user", "Header and hello speak for different users.");
    private static readonly AdmissionRefusal OtherDevice = Unauthorized("other-device", "The token is bound to another device.");

    private static readonly AdmissionRefusal OtherOrigin = Unauthorized("other-origin", "Pages of this origin may not use the app: its Origins do not list it.");

    private static readonly AdmissionRefusal Expired =
        new(new FrameProblem("token-expired", $"The client token is not valid: {IClientAuthenticator.Expired}. Come back with a new one."), SessionClose.TokenExpired);

    /// <summary>
    /// Null when <paramref name="client"/> may open a session. A token in the hello is the newer word: it decides, but only for the user
    /// that the header named.
    /// </summary>
    public static AdmissionRefusal? Check(in ClientFrame hello, ClientCredential? header, string? origin, ServerParts parts, out ClientCredential client)
    {
        client = header!;
        if (hello.Token is { } token)
        {
            if (parts.Authenticator.Authenticate(token, out var refusal) is not { } named)
            {
                return Refuse(refusal!);
            }

            if (header is not null && (header.Identity.App != named.App || header.Identity.User != named.User))
            {
                return OtherUser;
            }

            client = new ClientCredential(named, token);
        }

        if (client is null)
        {
            return NoToken;
        }

        var identity = client.Identity;
        if (identity.Device is { } bound && !string.Equals(bound, hello.Device, StringComparison.Ordinal))
        {
            return OtherDevice;
        }

        if (!parts.Authenticator.TakesOrigin(identity.App, origin))
        {
            return OtherOrigin;
        }

        return identity.ExpiresAt <= SteadyClock.WallOf(parts.Clock).GetUtcNow() ? Expired : null;
    }

    /// <summary>What a refused token is answered. A client that slept past its token's end has only to come back with a new one. Where keys are being replaced, or clocks are apart, another one may be taken in a while.</summary>
    public static AdmissionRefusal Refuse(string refusal) => refusal == IClientAuthenticator.Expired
        ? Expired
        : new(new FrameProblem("bad-token", $"The client token is not valid: {refusal}."), IClientAuthenticator.IsPassing(refusal) ? SessionClose.TokenRefused : SessionClose.Unauthorized);

    private static AdmissionRefusal Unauthorized(string code, string message) =>
        new(new FrameProblem(code, message), SessionClose.Unauthorized);
}
