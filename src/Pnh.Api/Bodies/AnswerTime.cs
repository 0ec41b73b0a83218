namespace Pnh.Api.Bodies;

/// <summary>
/// How long an answer of any length may be under way: until its reader goes, and a little longer than the hub. A reader that does not read held the
/// stop for the whole 30 s that it may take. Not thread-safe.
/// </summary>
internal sealed class AnswerTime : IDisposable
{
    /// <summary>
    /// Who reads at all has the last line, or an answer of usual size, in milliseconds. Sockets take as long to drain. In real time, not the clock that tests set: a
    /// stop of the host is.
    /// </summary>
    internal static readonly TimeSpan AfterStop = TimeSpan.FromSeconds(3);

    private readonly CancellationTokenSource _over;
    private readonly CancellationTokenRegistration _stop;

    internal AnswerTime(HttpContext context, CancellationToken stopping)
    {
        _over = CancellationTokenSource.CreateLinkedTokenSource(context.RequestAborted);
        _stop = stopping.UnsafeRegister(static over => ((CancellationTokenSource)over!).CancelAfter(AfterStop), _over);
    }

    /// <summary>Cancelled when the reader goes or the time after the hub's stop is over. A flush that is cancelled cuts the connection.</summary>
    internal CancellationToken Over => _over.Token;

    /// <summary>Has the answer written. What is not read in time breaks off with its connection, so that it cannot pass for whole.</summary>
    internal static async Task WriteAsync(HttpContext context, Func<CancellationToken, Task> write, CancellationToken stopping)
    {
        using var time = new AnswerTime(context, stopping);
        try
        {
            await write(time.Over);
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            context.Abort();
        }
    }

    public void Dispose()
    {
        _stop.Dispose();
        _over.Dispose();
    }
}
