using Pnh.Core.Timing;

namespace Pnh.Api.Operations;

/// <summary>A line when <c>/readyz</c> begins to say that the hub takes nothing, and one when it takes all again: looked for each second, between start and stop.</summary>
internal sealed partial class ReadinessWatch(Readiness readiness, TimeProvider time, ILogger<ReadinessWatch> log) : IHostedService, IDisposable
{
    private IDisposable? _each;
    private string? _fault;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _each = SecondHand.Each(time, Look);
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken)
    {
        Dispose();
        return Task.CompletedTask;
    }

    public void Dispose() => _each?.Dispose();

    private void Look()
    {
        if (!readiness.IsReady || readiness.Fault is var fault && fault == _fault)
        {
            return;
        }

        if (fault is not null)
        {
            NotReady(log, fault);
        }
        else
        {
            Ready(log);
        }

        _fault = fault;
    }

    [LoggerMessage(1, LogLevel.Error, "The hub is {Fault}", EventName = "NotReady")]
    private static partial void NotReady(ILogger logger, string fault);

    [LoggerMessage(2, LogLevel.Information, "The hub is ready again.", EventName = "ReadyAgain")]
    private static partial void Ready(ILogger logger);
}
