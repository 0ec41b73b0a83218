using System.Runtime.InteropServices;
using Pnh.Api.Listeners;

namespace Pnh.Api.Operations;

/// <summary>
/// What a SIGHUP does to a node: the end of its terminal is a SIGTERM, with the drain; where it was ignored when the program began (nohup) it stays ignored; else the certificate and the keys of
/// client tokens are read again, as services take it (daemon(7)); files of provider keys are looked at every ten seconds anyway. Without this the program ends at once.
/// </summary>
internal sealed partial class HangUp(ListenerCertificate certificate, TokenKeysWatch keys, IHostApplicationLifetime lifetime, ILogger<HangUp> log) : IHostedService, IDisposable
{
    private const string Status = "/proc/self/status";
    private const string Terminal = "/dev/tty";

    private PosixSignalRegistration? _registration;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        if (!OperatingSystem.IsWindows() && !IsIgnored())
        {
            _registration = PosixSignalRegistration.Create(PosixSignal.SIGHUP, Hear);
        }

        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public void Dispose() => _registration?.Dispose();

    private void Hear(PosixSignalContext signal)
    {
        signal.Cancel = true;
        if (HasTerminal())
        {
            Ends(log);
            lifetime.StopApplication();
        }
        else
        {
            Reads(log);
            certificate.Look();
            keys.Look();
        }
    }

    /// <summary>Whether it was ignored when the program began: the first bit of SigIgn (proc(5)). False where nobody says.</summary>
    private static bool IsIgnored()
    {
        try
        {
            return File.ReadLines(Status).FirstOrDefault(static line => line.StartsWith("SigIgn:", StringComparison.Ordinal)) is { Length: > 0 } line && Convert.ToByte(line[^1..], 16) % 2 == 1;
        }
        catch (Exception fault) when (fault is IOException or UnauthorizedAccessException or FormatException)
        {
            return false;
        }
    }

    private static bool HasTerminal()
    {
        try
        {
            using var terminal = File.OpenHandle(Terminal);
            return true;
        }
        catch (Exception fault) when (fault is IOException or UnauthorizedAccessException)
        {
            return false;
        }
    }

    [LoggerMessage(1, LogLevel.Information, "The terminal is closed: the node drains and ends.", EventName = "TerminalClosed")]
    private static partial void Ends(ILogger logger);

    [LoggerMessage(2, LogLevel.Information, "SIGHUP: the certificate and the keys of client tokens are read again.", EventName = "ReadAgain")]
    private static partial void Reads(ILogger logger);
}
