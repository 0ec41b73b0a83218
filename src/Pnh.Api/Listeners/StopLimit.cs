using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Pnh.Api.Bodies;

namespace Pnh.Api.Listeners;

/// <summary>
/// How long a connection of Kestrel's may outlive the hub's stop. The server's own limits stand still then (its heartbeat is the first thing it ends), so a
/// body of which nothing more comes, and a client that goes on sending after its answer, held the stop for the whole 30 s that it may take. Thread-safe.
/// </summary>
internal sealed class StopLimit : IDisposable
{
    // Behind the last answer as long as the server takes to pass over the rest of a body: a reset before would cost the sender that answer.
    private static readonly TimeSpan AfterAnswers = TimeSpan.FromSeconds(5);

    private readonly CancellationTokenSource _over = new();
    private readonly CancellationTokenRegistration _stop;

    public StopLimit(IHostApplicationLifetime lifetime)
    {
        _stop = lifetime.ApplicationStopping.UnsafeRegister(
            static over => ((CancellationTokenSource)over!).CancelAfter(AnswerTime.AfterStop + AfterAnswers), _over);
    }

    /// <summary>Holds the listener's connections to it. In front of TLS.</summary>
    public void Apply(ListenOptions listen) => listen.Use(next => connection => RunAsync(next, connection));

    public void Dispose()
    {
        _stop.Dispose();
        _over.Dispose();
    }

    private async Task RunAsync(ConnectionDelegate next, ConnectionContext connection)
    {
        using var cut = _over.Token.UnsafeRegister(static connection => ((ConnectionContext)connection!).Abort(), connection);
        await next(connection);
    }
}
