using Polly.Telemetry;

namespace Pnh.Channels.Provider.Sender;

/// <summary>
/// Polly's telemetry of what happens (a retry, a breaker that opens), without that of each execution: every push passes the breaker, and counting it there once more
/// would cost what the rest of the pipeline costs. Thread-safe.
/// </summary>
internal sealed class EventTelemetry(TelemetryListener events) : TelemetryListener
{
    public override void Write<TResult, TArgs>(in TelemetryEventArguments<TResult, TArgs> args)
    {
        if (typeof(TArgs) != typeof(PipelineExecutingArguments) && typeof(TArgs) != typeof(PipelineExecutedArguments))
        {
            events.Write(in args);
        }
    }
}
