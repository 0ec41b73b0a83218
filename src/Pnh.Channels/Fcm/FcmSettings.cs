using Microsoft.Extensions.Options;
using Pnh.Channels.Settings;
using Pnh.Core.Settings;

namespace Pnh.Channels.Fcm;

/// <summary>A Firebase project of an app.</summary>
internal sealed record FcmSettings
{
    /// <summary>The service account's JSON file from Google; it is read again when it changes. Needed.</summary>
    [TakenLive(LiveSource.File)]
    public string? ServiceAccountFile { get; set; }

    /// <summary>Where to connect. Default https://fcm.googleapis.com.</summary>
    [HttpsAddress]
    public string? BaseAddress { get; set; }

    // Twenty connections of 100 streams are 20,000 messages a second at 100 ms each, twice the default quota of a project.

    /// <summary>The most connections that each class may open. Default 20.</summary>
    [WholeNumber(1, 100)]
    public int Connections { get; set; } = 20;

    /// <summary>The project's quota; all accounts of a project have the same. Default 600,000.</summary>
    [WholeNumber(60, 100_000_000)]
    public int MessagesPerMinute { get; set; } = FcmPace.DefaultPerMinute;
}

[OptionsValidator]
internal sealed partial class FcmSettingsRules : IValidateOptions<FcmSettings>;
