using Pnh.Core.Intake;

namespace Pnh.Api.Operations;

/// <summary>Whether the hub takes traffic, and whether a restart would help: what <c>/readyz</c> and <c>/healthz</c> answer. Thread-safe.</summary>
internal sealed class Readiness
{
    private volatile bool _isReady;

    /// <param name="stores">What must be writable: its label in metrics, and its file.</param>
    public Readiness(params (string Label, string File, Func<bool> IsClosed)[] stores) => Stores = stores;

    /// <summary>What must be writable.</summary>
    public IReadOnlyList<(string Label, string File, Func<bool> IsClosed)> Stores { get; }

    /// <summary>True between the opening of the listeners and the begin of the drain.</summary>
    public bool IsReady
    {
        get => _isReady;
        set => _isReady = value;
    }

    /// <summary>Why no traffic should come, in one line; null = it should.</summary>
    public string? Fault => !_isReady ? "not ready"
        : (ClosedStore ?? Refusal()) is { } fault ? $"not ready: {fault}"
        : Memory is { IsFull: true } full ? $"not ready: {full.Shortage}"
        : null;

    /// <summary>Why every durable event, or every registration, is refused now, in one line; null = they are taken. Any thread asks.</summary>
    public Func<string?> Refusal { get; init; } = static () => null;

    /// <summary>What is short although traffic should come, in one line; null = nothing.</summary>
    public string? Shortage => Memory?.Shortage;

    /// <summary>What refuses events when memory is short; null = nothing does.</summary>
    public MemoryGuard? Memory { get; init; }

    /// <summary>Which store closed itself for good, in one line; null = none. Nothing but a restart opens it again.</summary>
    public string? ClosedStore
    {
        get
        {
            foreach (var (_, file, isClosed) in Stores)
            {
                if (isClosed())
                {
                    return $"{file} is closed after a disk fault; the log says which, a restart opens it again";
                }
            }

            return null;
        }
    }
}
