using System.Net;
using Pnh.Sandbox.Phones;

namespace Pnh.Sandbox.Contract;

/// <summary>Where the stand-ins listen and how strict they are. The defaults are what the providers' pages and users report.</summary>
public sealed class SandboxOptions
{
    /// <summary>Folder of the keys and certificates, made on first use. Relative to the working folder.</summary>
    public string Folder { get; set; } = Path.Combine("pnh-data", "sandbox");

    /// <summary>Port of the APNs stand-in; 0 takes any free one.</summary>
    public int ApnsPort { get; set; } = 8443;

    /// <summary>Port of FCM v1, of Web Push, of OAuth's <c>/token</c> and of <c>/sandbox/…</c>; 0 takes any free one.</summary>
    public int FcmPort { get; set; } = 8444;

    /// <summary>Address to listen on; null means localhost, both families where the machine has them.</summary>
    public IPAddress? Address { get; set; }

    /// <summary>The clock of tokens, quotas, delays and phones. Certificates always use the system's: TLS clients do too.</summary>
    public TimeProvider TimeProvider { get; set; } = TimeProvider.System;

    /// <summary>Which APNs this is.</summary>
    public ApnsEnvironment ApnsEnvironment { get; set; } = ApnsEnvironment.Sandbox;

    /// <summary>Bundle ids that the team may push to; empty accepts every well-formed one.</summary>
    public IReadOnlyCollection<string> Topics { get; set; } = [];

    /// <summary>Streams that APNs grants until a request with a valid provider token has been answered (Apple: one).</summary>
    public int StreamsBeforeAuthentication { get; set; } = 1;

    /// <summary>Streams that APNs grants afterwards.</summary>
    public int StreamsAfterAuthentication { get; set; } = 1000;

    /// <summary>Whether streams beyond what was granted are refused (REFUSED_STREAM) instead of only counted.</summary>
    public bool RefuseExcessStreams { get; set; }

    /// <summary>Least distance between the <c>iat</c> of two provider tokens on one connection.</summary>
    public TimeSpan TokenUpdateWindow { get; set; } = TimeSpan.FromMinutes(20);

    /// <summary>How far ahead of our clock an <c>iat</c> may be.</summary>
    public TimeSpan ClockSkew { get; set; } = TimeSpan.FromMinutes(5);

    /// <summary>Answers of BadDeviceToken after which APNs closes the connection; 0 never closes it.</summary>
    public int BadDeviceTokensBeforeGoAway { get; set; }

    /// <summary>Streams per connection of the FCM port; more are answered with GOAWAY, as Google's front ends do.</summary>
    public int FcmStreams { get; set; } = 100;

    /// <summary>Messages per project and minute, refilled whole each minute (Google: 600,000).</summary>
    public int FcmMessagesPerMinute { get; set; } = 600_000;

    /// <summary>How long an access token lives (Google: 3,599 s).</summary>
    public TimeSpan AccessTokenLifetime { get; set; } = TimeSpan.FromSeconds(3599);

    /// <summary>Values of <c>aud</c> accepted besides our own token address, for clients that always name Google's.</summary>
    public IReadOnlyCollection<string> ExtraAudiences { get; set; } = [];

    /// <summary>Phones remembered; pushes to further addresses are accepted, and counted in <see cref="SandboxPhones.Overflow"/>.</summary>
    public int PhonesKept { get; set; } = 20_000;

    /// <summary>Notifications on a lock screen; older ones fall off.</summary>
    public int NotificationsKept { get; set; } = 20;

    /// <summary>Raw requests remembered per phone.</summary>
    public int RequestsKept { get; set; } = 10;

    /// <summary>Everything that is wrong, or an empty list.</summary>
    internal List<string> Errors()
    {
        List<string> errors = [];
        Check(ApnsPort is >= 0 and <= 65535, "ApnsPort must be 0 to 65535");
        Check(FcmPort is >= 0 and <= 65535, "FcmPort must be 0 to 65535");
        Check(ApnsPort == 0 || ApnsPort != FcmPort, "ApnsPort and FcmPort must differ");
        Check(!string.IsNullOrWhiteSpace(Folder), "Folder must be given");
        Check(StreamsBeforeAuthentication > 0, "StreamsBeforeAuthentication must be positive");
        Check(StreamsAfterAuthentication >= StreamsBeforeAuthentication, "StreamsAfterAuthentication must not be the smaller one");
        Check(FcmStreams > 0, "FcmStreams must be positive");
        Check(FcmMessagesPerMinute > 0, "FcmMessagesPerMinute must be positive");
        Check(AccessTokenLifetime > TimeSpan.Zero, "AccessTokenLifetime must be positive");
        Check(PhonesKept > 0 && NotificationsKept > 0 && RequestsKept > 0, "PhonesKept, NotificationsKept and RequestsKept must be positive");
        return errors;

        void Check(bool holds, string error)
        {
            if (!holds)
            {
                errors.Add(error);
            }
        }
    }
}
