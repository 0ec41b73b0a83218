namespace Pnh.Client;

/// <summary>Where the hub is, and who sends.</summary>
public sealed class PnhPublisherOptions
{
    /// <summary>Of the hub, such as <c>https://push.example.com</c>.</summary>
    public required Uri Address { get; init; }

    /// <summary>A publisher key of the app.</summary>
    public required string Key { get; init; }

    /// <summary>For how long an event is sent again, with the same id, while the hub says that it cannot take it now or gives no answer. Zero = one attempt.</summary>
    public TimeSpan RetryFor { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>What requests go through; the caller's to dispose. Null = one of the publisher's own.</summary>
    public HttpMessageHandler? Handler { get; init; }

    /// <summary>Clock of the waits.</summary>
    public TimeProvider Time { get; init; } = TimeProvider.System;
}
