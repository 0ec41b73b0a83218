using Polly;
using Polly.Telemetry;

namespace Pnh.Channels.Provider.Sender;

/// <summary>
/// Polly's telemetry of what happens (a retry, a breaker that opens), without that of each execution: every push passes the breaker, and counting it there once more
/// would cost what the rest of the pipeline costs. Thread-safe.
/// </summary>
internal sealed class EventTelemetry(TelemetryListener events) : TelemetryListener
{
    /// <summary>A pipeline whose events are in Polly's meter under this name; not in the log, which has a line of ours for what a person should act on.</summary>
    public static ResiliencePipelineBuilder<T> NewPipeline<T>(string name, TimeProvider time)
    {
        var builder = new ResiliencePipelineBuilder<T> { Name = name, TimeProvider = time }.ConfigureTelemetry(new TelemetryOptions());
        builder.TelemetryListener = new EventTelemetry(builder.TelemetryListener!);
        return builder;
    }

    public override void Write<TResult, TArgs>(in TelemetryEventArguments<TResult, TArgs> args)
    {
        if (typeof(TArgs) != typeof(PipelineExecutingArguments) && typeof(TArgs) != typeof(PipelineExecutedArguments))
        {
            events.Write(in args);
        }
    }
}
