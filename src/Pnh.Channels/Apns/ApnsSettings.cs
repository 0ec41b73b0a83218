using Microsoft.Extensions.Options;
using Pnh.Channels.Settings;
using Pnh.Core.Settings;

namespace Pnh.Channels.Apns;

/// <summary>An APNs account of an app: a topic of a team in one environment, by key (TeamId, KeyId, KeyFile) or by certificate. Each file is read again when it changes.</summary>
internal sealed record ApnsSettings
{
    /// <summary>The team's id, 10 letters and digits. Needed with KeyFile.</summary>
    [TakenLive(LiveSource.Text)]
    public string? TeamId { get; set; }

    /// <summary>The key's id, 10 letters and digits. Needed with KeyFile.</summary>
    [TakenLive(LiveSource.Text)]
    public string? KeyId { get; set; }

    /// <summary>The .p8 file from Apple: a PEM file with a P-256 private key. No default.</summary>
    [TakenLive(LiveSource.File)]
    public string? KeyFile { get; set; }

    /// <summary>A certificate with its key, PKCS#12 or PEM, in place of KeyFile. Default none.</summary>
    [TakenLive(LiveSource.File)]
    public string? CertificateFile { get; set; }

    /// <summary>Password of CertificateFile. A secret. Default none.</summary>
    [TakenLive(LiveSource.Text)]
    public string? CertificatePassword { get; set; }

    /// <summary>Bundle id of the app, without any suffix. Needed.</summary>
    public string? Topic { get; set; }

    /// <summary>production or sandbox. Default production.</summary>
    public string? Environment { get; set; }

    /// <summary>Where to connect. Default Apple's address of the environment.</summary>
    [HttpsAddress]
    public string? BaseAddress { get; set; }

    // Eight connections of 100 streams are 16,000 pushes a second at 50 ms each.

    /// <summary>The most connections that each class may open. Default 8.</summary>
    [WholeNumber(1, 100)]
    public int Connections { get; set; } = 8;
}

[OptionsValidator]
internal sealed partial class ApnsSettingsRules : IValidateOptions<ApnsSettings>;
