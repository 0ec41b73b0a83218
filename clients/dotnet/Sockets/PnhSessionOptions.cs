namespace Pnh.Client.Sockets;

/// <summary>A device's session, and who handles what comes.</summary>
public sealed class PnhSessionOptions
{
    /// <summary>Such as <c>wss://push.example.com/v1/socket</c>.</summary>
    public required Uri Address { get; init; }

    /// <summary>
    /// Gives a client token. It is asked for once in the life of a token, and again when the hub refuses one; it has 15 s. Whatever it gives or throws is not final: it is asked again, after a wait that grows.
    /// </summary>
    public required Func<CancellationToken, ValueTask<string>> Token { get; init; }

    /// <summary>Id of this installation: the one that was registered. Two connections with one id close each other.</summary>
    public required string Device { get; init; }

    /// <summary>
    /// Handles each event once, in the hub's order, one after the other; calls beside the others, so it may be called by two threads. It is acknowledged when this completes. When it throws it is called again after 1 s and after 2 s more, and the event is
    /// given up then.
    /// </summary>
    public required Func<PnhMessage, CancellationToken, ValueTask> OnEvent { get; init; }

    /// <summary>Told of each withdrawal at once, also while an event is handled; an event that nobody was given yet is never given; what it throws goes to <see cref="OnError"/>. Null = nobody is.</summary>
    public Func<PnhWithdrawal, CancellationToken, ValueTask>? OnWithdraw { get; init; }

    /// <summary>
    /// Told once, after the session has opened, of what ended while the device was away: then read it from your own back-end. What it throws goes to <see cref="OnError"/>. Null = nobody is.
    /// </summary>
    public Func<PnhMissed, CancellationToken, ValueTask>? OnMissed { get; init; }

    /// <summary>Told of each change of the connection. Must return at once; what it throws goes to <see cref="OnError"/>. Null = nobody is.</summary>
    public Action<PnhConnection>? OnConnection { get; init; }

    /// <summary>Told of the hub's error frames (<c>code</c> of <see cref="Reports.PnhException"/>) and of what the others threw. Must return at once. Null = nobody is.</summary>
    public Action<Exception>? OnError { get; init; }

    /// <summary>How often the hub is to be heard from, in whole seconds, 5 to 60. A connection of which nothing came for so long, and 8 s more, is lost.</summary>
    public TimeSpan Beat { get; init; } = TimeSpan.FromSeconds(25);

    /// <summary>True = the app is in front.</summary>
    public bool IsActive { get; init; } = true;

    /// <summary>Clock of the waits.</summary>
    public TimeProvider Time { get; init; } = TimeProvider.System;

    /// <summary>Nothing that a callback throws ends the session.</summary>
    internal void Fail(Exception fault)
    {
        try
        {
            OnError?.Invoke(fault);
        }
        catch (Exception)
        {
            // There is nobody to tell.
        }
    }

    internal void Tell(PnhConnection now)
    {
        try
        {
            OnConnection?.Invoke(now);
        }
        catch (Exception fault)
        {
            Fail(fault);
        }
    }

    internal async ValueTask TellAsync<T>(Func<T, CancellationToken, ValueTask>? told, T news, CancellationToken cancellationToken)
    {
        try
        {
            if (told is not null)
            {
                await told(news, cancellationToken).ConfigureAwait(false);
            }
        }
        catch (Exception fault) when (!cancellationToken.IsCancellationRequested)
        {
            Fail(fault);
        }
    }
}
