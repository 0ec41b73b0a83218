using System.Security.Cryptography;
using System.Text;
using Microsoft.Extensions.Logging;
using Pnh.Channels.Provider.Connections;

namespace Pnh.Channels.Provider.Credentials;

/// <summary>
/// Looks at a credential's file every ten seconds and hands it on when its bytes have changed, or what the configuration says of it: its name, its ids. By
/// reading it, not by the file system's notices: those are lost where a secret is mounted and swapped by a link. What cannot be read or is refused leaves
/// the old credential in use, with one alarm.
/// </summary>
internal sealed partial class CredentialFile : IDisposable
{
    public static readonly TimeSpan Period = TimeSpan.FromSeconds(10);

    /// <summary>The largest real one, a PKCS#12 file with its chain, has some 10 kB.</summary>
    private const int MaxBytes = 256 * 1024;

    private readonly Func<string?> _path;
    private readonly Func<string> _ids;
    private readonly string _account;
    private readonly Func<byte[], string?> _take;
    private readonly ProviderGauges _gauges;
    private readonly ILogger _logger;
    private readonly ITimer _timer;
    private byte[] _used;
    private byte[] _seen;
    private int _isReading;

    /// <param name="path">The file that the configuration names now; null = none any more, which changes nothing.</param>
    /// <param name="ids">What else the configuration says of the credential now, as one text.</param>
    /// <param name="bytes">What was read of it at start.</param>
    /// <param name="account">Whose it is, for logs.</param>
    /// <param name="take">Makes the new bytes the credential and returns null, or says what is wrong with them and changes nothing.</param>
    /// <param name="services">Of the process.</param>
    public CredentialFile(Func<string?> path, Func<string> ids, byte[] bytes, string account, Func<byte[], string?> take, ProviderServices services)
    {
        _path = path;
        _ids = ids;
        _account = account;
        _take = take;
        _gauges = services.Gauges;
        _logger = services.Loggers.CreateLogger<CredentialFile>();
        _used = _seen = Hash(bytes);
        _timer = services.Time.CreateTimer(static file => ((CredentialFile)file!).Look(), this, Period, Period);
    }

    public void Dispose() => _timer.Dispose();

    private void Look()
    {
        // A mounted secret may sit on a slow network file system: never two at once, never on the timer's thread.
        if (Interlocked.Exchange(ref _isReading, 1) == 0)
        {
            _ = ReadAsync();
        }
    }

    private async Task ReadAsync()
    {
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        try
        {
            if (_path() is { } path)
            {
                var bytes = await File.ReadAllBytesAsync(path);
                Consider(bytes, Hash(bytes));
            }
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException or ArgumentException or NotSupportedException)
        {
            // Gone for the moment of a swap, or for good: said once, either way.
            Refuse([], "cannot be read");
        }
        finally
        {
            Volatile.Write(ref _isReading, 0);
        }
    }

    private void Consider(byte[] bytes, byte[] hash)
    {
        if (hash.AsSpan().SequenceEqual(_seen))
        {
            return;
        }

        if (hash.AsSpan().SequenceEqual(_used))
        {
            // Back to what is in use.
            _seen = hash;
            return;
        }

        if ((bytes.Length > MaxBytes ? "is too large" : _take(bytes)) is { } problem)
        {
            Refuse(hash, problem);
            return;
        }

        _used = _seen = hash;
        _gauges.Reloaded(taken: true);
        Log.Taken(_logger, _account);
    }

    private void Refuse(byte[] hash, string problem)
    {
        if (hash.AsSpan().SequenceEqual(_seen))
        {
            return;
        }

        _seen = hash;
        _gauges.Reloaded(taken: false);
        Log.Refused(_logger, _account, problem);
    }

    private byte[] Hash(byte[] bytes)
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        hash.AppendData(Encoding.UTF8.GetBytes(_ids() + "\n"));
        hash.AppendData(bytes);
        return hash.GetHashAndReset();
    }

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Information, "The credential of account {Account} has changed and is in use.", EventName = "CredentialTaken")]
        public static partial void Taken(ILogger logger, string account);

        [LoggerMessage(2, LogLevel.Error, "The credential of account {Account} has changed but is not used: {Problem}. The old one stays in use.", EventName = "CredentialRefused")]
        public static partial void Refused(ILogger logger, string account, string problem);
    }
}
