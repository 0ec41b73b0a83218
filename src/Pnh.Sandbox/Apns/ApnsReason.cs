namespace Pnh.Sandbox.Apns;

/// <summary>Apple's error strings and the status each comes with ("Handling notification responses from APNs").</summary>
internal static class ApnsReason
{
    public const string BadCollapseId = nameof(BadCollapseId);
    public const string BadDeviceToken = nameof(BadDeviceToken);
    public const string BadEnvironmentKeyIdInToken = nameof(BadEnvironmentKeyIdInToken);
    public const string BadExpirationDate = nameof(BadExpirationDate);
    public const string BadMessageId = nameof(BadMessageId);
    public const string BadPath = nameof(BadPath);
    public const string BadPriority = nameof(BadPriority);
    public const string BadTopic = nameof(BadTopic);
    public const string DuplicateHeaders = nameof(DuplicateHeaders);
    public const string ExpiredProviderToken = nameof(ExpiredProviderToken);
    public const string ExpiredToken = nameof(ExpiredToken);
    public const string InvalidProviderToken = nameof(InvalidProviderToken);
    public const string InvalidPushType = nameof(InvalidPushType);
    public const string MethodNotAllowed = nameof(MethodNotAllowed);
    public const string MissingDeviceToken = nameof(MissingDeviceToken);
    public const string MissingProviderToken = nameof(MissingProviderToken);
    public const string MissingTopic = nameof(MissingTopic);
    public const string PayloadEmpty = nameof(PayloadEmpty);
    public const string PayloadTooLarge = nameof(PayloadTooLarge);
    public const string ServiceUnavailable = nameof(ServiceUnavailable);
    public const string TooManyProviderTokenUpdates = nameof(TooManyProviderTokenUpdates);
    public const string TooManyRequests = nameof(TooManyRequests);
    public const string TopicDisallowed = nameof(TopicDisallowed);
    public const string UnrelatedKeyIdInToken = nameof(UnrelatedKeyIdInToken);
    public const string Unregistered = nameof(Unregistered);

    public static int StatusOf(string reason) => reason switch
    {
        "BadCertificate" or "BadCertificateEnvironment" or "BadEnvironmentKeyInToken" or "Forbidden" or BadEnvironmentKeyIdInToken
            or ExpiredProviderToken or InvalidProviderToken or MissingProviderToken or UnrelatedKeyIdInToken => 403,
        BadPath => 404,
        MethodNotAllowed => 405,
        Unregistered or ExpiredToken => 410,
        PayloadTooLarge => 413,
        TooManyProviderTokenUpdates or TooManyRequests => 429,
        "InternalServerError" => 500,
        ServiceUnavailable or "Shutdown" => 503,
        _ => 400,
    };

    /// <summary>Only 410 tells when the token was last known to be good.</summary>
    public static bool HasTimestamp(int status) => status == 410;
}
