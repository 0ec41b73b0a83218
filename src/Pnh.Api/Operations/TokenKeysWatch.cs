using Pnh.Api.Access;
using Pnh.Api.Configuration;

namespace Pnh.Api.Operations;

/// <summary>
/// Reads the keys of client tokens (secrets, PEM files, JWK sets) again every ten seconds and when a SIGHUP asks, as an issuer replaces them without a notice. What cannot be used leaves those of
/// before, with a line. Thread-safe.
/// </summary>
internal sealed partial class TokenKeysWatch(IConfiguration configuration, ClientTokens tokens, TimeProvider time, ILogger<TokenKeysWatch> log) : IHostedService, IDisposable
{
    private static readonly TimeSpan Period = TimeSpan.FromSeconds(10);

    private readonly Lock _gate = new();
    private readonly Dictionary<string, string> _refused = new(StringComparer.Ordinal);
    private readonly string _folder = Environment.CurrentDirectory;
    private ITimer? _timer;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _timer = tokens.Apps.Count == 0 ? null : time.CreateTimer(static watch => ((TokenKeysWatch)watch!).Look(), this, Period, Period);
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public void Dispose() => _timer?.Dispose();

    /// <summary>Reads them now. What is refused is said once.</summary>
    public void Look()
    {
        // A file may be on a slow network file system: the timer's next call passes by.
        if (_gate.TryEnter())
        {
            try
            {
                foreach (var app in tokens.Apps)
                {
                    Look(app);
                }
            }
            finally
            {
                _gate.Exit();
            }
        }
    }

    private void Look(string app)
    {
        var errors = new ConfigurationErrors();
        var section = configuration.GetSection(ConfigurationPath.Combine(PnhOptions.SectionName, "Apps", app, "Tokens"));
        var options = AppsReader.ReadTokens(new SectionReader(section, errors), _folder);
        if (errors.None && options is not null)
        {
            _refused.Remove(app);
            if (tokens.Replace(app, options))
            {
                Taken(log, app, options.Hs256Secrets.Count + options.PublicKeys.Count);
            }

            return;
        }

        var why = options is null && errors.None ? "there are none" : UrlPassword.Hide(string.Join("; ", errors.All));
        if (_refused.GetValueOrDefault(app) != why)
        {
            _refused[app] = why;
            Refused(log, app, why);
        }
    }

    [LoggerMessage(1, LogLevel.Information, "The keys of client tokens of app {App} have changed: {Count} are taken from now on.", EventName = "TokenKeysTaken")]
    private static partial void Taken(ILogger logger, string app, int count);

    [LoggerMessage(2, LogLevel.Error, "The keys of client tokens of app {App} have changed and cannot be used ({Why}): those of before are taken.", EventName = "TokenKeysRefused")]
    private static partial void Refused(ILogger logger, string app, string why);
}
