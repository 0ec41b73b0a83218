using System.Net.Security;
using Pnh.Core.Diagnostics;
using Pnh.Core.Timing;

namespace Pnh.Api.Listeners;

/// <summary>
/// The certificate of the listeners (Kestrel:Certificates:Default), which is read again when its files have changed: looked at every ten seconds, as a mounted secret is swapped without
/// a notice, and when a SIGHUP asks. What cannot be read leaves the one before in use, with a line. Thread-safe.
/// </summary>
internal sealed partial class ListenerCertificate : IDisposable
{
    /// <summary>Where the configuration names it.</summary>
    public const string Section = "Kestrel:Certificates:Default";

    private static readonly TimeSpan Period = TimeSpan.FromSeconds(10);

    private readonly Lock _gate = new();
    private readonly IConfigurationSection _section;
    private readonly string _folder;
    private readonly TimeProvider _time;
    private readonly HubMetrics? _metrics;
    private readonly ILogger _log;
    private SslStreamCertificateContext? _current;
    private ITimer? _timer;
    private IDisposable? _exported;
    private byte[] _seen = [];

    /// <param name="configuration">Names the files.</param>
    /// <param name="environment">Relative names are of its content root.</param>
    /// <param name="time">When to look.</param>
    /// <param name="log">Says what was taken or refused.</param>
    /// <param name="metrics">Exports how long it holds; null = nobody asks.</param>
    public ListenerCertificate(IConfiguration configuration, IHostEnvironment environment, TimeProvider time, ILogger<ListenerCertificate> log, HubMetrics? metrics = null) =>
        (_section, _folder, _time, _log, _metrics) = (configuration.GetSection(Section), environment.ContentRootPath, SteadyClock.WallOf(time), log, metrics);

    /// <summary>True when the configuration names a file.</summary>
    public bool IsGiven => _section["Path"] is { Length: > 0 };

    /// <summary>What is shown, with the chain of its file. After <see cref="Start"/>.</summary>
    public SslStreamCertificateContext Current => Volatile.Read(ref _current)!;

    /// <summary>Reads it, once, and looks at its files from now on. Faults are those of files and of cryptography.</summary>
    public void Start()
    {
        lock (_gate)
        {
            if (_current is null)
            {
                var files = CertificateFiles.Read(_section, _folder);
                Volatile.Write(ref _current, files.OpenWithChain());
                _seen = files.Hash();
                _exported = _metrics?.RegisterCertificate(() => Current.TargetCertificate.NotAfter.ToUniversalTime() - _time.GetUtcNow());
                _timer = _time.CreateTimer(static one => ((ListenerCertificate)one!).Look(), this, Period, Period);
            }
        }
    }

    /// <summary>Reads the files again, and takes them when they have changed. What is refused is said once.</summary>
    public void Look()
    {
        lock (_gate)
        {
            if (_current is null)
            {
                return;
            }

            try
            {
                var files = CertificateFiles.Read(_section, _folder);
                var found = files.Hash();
                if (!found.AsSpan().SequenceEqual(_seen))
                {
                    _seen = found;

                    // The former one is not disposed of: a handshake may hold it.
                    Volatile.Write(ref _current, files.OpenWithChain());
                    Taken(_log, _current.TargetCertificate.NotAfter.ToUniversalTime());
                }
            }
            catch (Exception fault) when (CertificateFiles.IsFault(fault))
            {
                Refused(_log, fault.Message.TrimEnd('.'));
            }
        }
    }

    public void Dispose()
    {
        _timer?.Dispose();
        _exported?.Dispose();
    }

    [LoggerMessage(1, LogLevel.Information, "The listeners' certificate has changed: the new one is shown from now on, it holds until {Until:u}.", EventName = "CertificateTaken")]
    private static partial void Taken(ILogger logger, DateTimeOffset until);

    [LoggerMessage(2, LogLevel.Error, "The listeners' certificate has changed and cannot be read ({Why}): the one before is shown.", EventName = "CertificateRefused")]
    private static partial void Refused(ILogger logger, string why);
}
