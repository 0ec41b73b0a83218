namespace Pnh.Client.Sockets;

/// <summary>A device's session, and who handles what comes.</summary>
public sealed class PnhSessionOptions
{
    /// <summary>Such as <c>wss://push.example.com/v1/socket</c>.</summary>
    public required Uri Address { get; init; }

    /// <summary>Gives a client token; asked for at each connect, so an expired one is renewed.</summary>
    public required Func<CancellationToken, ValueTask<string>> Token { get; init; }

    /// <summary>Id of this installation: the one that was registered. Two connections with one id close each other.</summary>
    public required string Device { get; init; }

    /// <summary>
    /// Handles each event once, in the hub's order, one after the other. It is acknowledged when this completes. When it throws, the event comes again with the next connection, three times at most.
    /// </summary>
    public required Func<PnhMessage, CancellationToken, ValueTask> OnEvent { get; init; }

    /// <summary>Told of each withdrawal, in its place among the events. Null = nobody is.</summary>
    public Func<PnhWithdrawal, CancellationToken, ValueTask>? OnWithdraw { get; init; }

    /// <summary>Told of each change of the connection. Must return at once. Null = nobody is.</summary>
    public Action<PnhConnection>? OnConnection { get; init; }

    /// <summary>Told of the hub's error frames (<c>code</c> of <see cref="Reports.PnhException"/>) and of what <see cref="OnEvent"/> threw. Must return at once. Null = nobody is.</summary>
    public Action<Exception>? OnError { get; init; }

    /// <summary>True = the app is in front.</summary>
    public bool IsActive { get; init; } = true;

    /// <summary>Clock of the waits.</summary>
    public TimeProvider Time { get; init; } = TimeProvider.System;
}
