using System.Diagnostics;
using System.Globalization;

namespace Pnh.TestKit;

/// <summary>
/// A PostgreSQL of the tests: Debian's binaries on loopback, in a folder that is gone afterwards. It ends with the process that started it, however that ends. It refuses to run as root, so then it runs as
/// <c>postgres</c>. Thread-safe.
/// </summary>
public sealed class PostgresServer : IAsyncDisposable
{
    private const string Root = "/usr/lib/postgresql";
    private const string User = "pnh";
    private static readonly Lock Gate = new();
    private static Task<PostgresServer>? _common;
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("pnh-pg-");
    private readonly string _binaries = Binaries ?? throw new InvalidOperationException(Missing);
    private Process? _server;
    private int _databases;
    private bool _isShared; // nobody disposes it: its shell does

    private PostgresServer()
    {
    }

    /// <summary>Why there is none on this machine; null = there is one.</summary>
    public static string? Missing => Binaries is null ? $"no PostgreSQL in {Root}" : null;

    /// <summary>Why a test that needs one is skipped; null = it runs. With PNH_REQUIRE_ALL=1 (continuous integration) it runs all the same, and fails.</summary>
    internal static string? SkipReason => Environment.GetEnvironmentVariable("PNH_REQUIRE_ALL") == "1" ? null : Missing;

    /// <summary>Where it listens, on 127.0.0.1.</summary>
    public int Port { get; private set; }

    // The newest.
    private static string? Binaries => Directory.Exists(Root)
        ? Directory.GetDirectories(Root).Select(static version => Path.Combine(version, "bin")).Where(static bin => File.Exists(Path.Combine(bin, "postgres")))
            .OrderByDescending(static bin => double.Parse(Path.GetFileName(Path.GetDirectoryName(bin))!, CultureInfo.InvariantCulture)).FirstOrDefault()
        : null;

    /// <summary>One for all tests of this process that do not break it.</summary>
    public static Task<PostgresServer> SharedAsync()
    {
        lock (Gate)
        {
            return _common ??= StartAsync(isShared: true, []);
        }
    }

    /// <summary>A new one, for a test that breaks it. Further options are PostgreSQL's (<c>-c name=value</c>).</summary>
    public static Task<PostgresServer> StartAsync(params string[] options) => StartAsync(isShared: false, options);

    private static async Task<PostgresServer> StartAsync(bool isShared, string[] options)
    {
        var server = new PostgresServer { _isShared = isShared };
        var data = Path.Combine(server._folder.FullName, "data");
        if (Environment.IsPrivilegedProcess)
        {
            await RunAsync("chown", "postgres:", server._folder.FullName);
        }

        await server.RunAsPostgresAsync("initdb", "-D", data, "-U", User, "--auth=trust", "--no-locale", "--encoding=UTF8", "--no-sync", "--no-instructions");
        await server.StartAgainAsync(options);
        return server;
    }

    /// <summary>A new, empty database: its connection string.</summary>
    public async Task<string> CreateDatabaseAsync()
    {
        var name = string.Create(CultureInfo.InvariantCulture, $"db{Interlocked.Increment(ref _databases)}");
        await RunAsPostgresAsync("createdb", "-h", "127.0.0.1", "-p", Port.ToString(CultureInfo.InvariantCulture), "-U", User, name);
        return string.Create(CultureInfo.InvariantCulture, $"Host=127.0.0.1;Port={Port};Username={User};Database={name}");
    }

    /// <summary>Starts it on what it has; of one that was stopped.</summary>
    public async Task StartAgainAsync(params string[] options)
    {
        Port = Port == 0 ? FreePort.Take() : Port;
        var port = Port.ToString(CultureInfo.InvariantCulture);
        string[] command =
        [
            Path.Combine(_binaries, "postgres"), "-D", Path.Combine(_folder.FullName, "data"), "-k", _folder.FullName, "-h", "127.0.0.1", "-p", port,
            "-c", "max_connections=200", "-c", "log_min_messages=fatal", .. options,
        ];

        // The shell waits for the end of its input, which is the end of this process. A shell's background jobs have no input of their own, so it is handed on. SIGINT is PostgreSQL's "fast": it asks no client.
        ProcessStartInfo start = new("/bin/sh", ["-c", "exec 3<&0; \"$@\" </dev/null 3<&- & pid=$!; (cat <&3 >/dev/null; kill -INT $pid 2>/dev/null) & wait $pid; rm -rf $PNH_FOLDER", "sh", .. AsPostgres(command)])
        {
            RedirectStandardInput = true,
            RedirectStandardError = true,
            RedirectStandardOutput = true,
            WorkingDirectory = "/",
            Environment = { ["PNH_FOLDER"] = _isShared ? _folder.FullName : "" },
        };
        _server = Process.Start(start)!;
        _server.ErrorDataReceived += static (_, _) => { };
        _server.OutputDataReceived += static (_, _) => { };
        _server.BeginErrorReadLine();
        _server.BeginOutputReadLine();
        while (!await IsReadyAsync(port))
        {
            if (_server.HasExited)
            {
                throw new InvalidOperationException($"PostgreSQL ended with {_server.ExitCode}.");
            }

            await Task.Delay(20);
        }
    }

    /// <summary>Ends it: connections break, what is committed stays.</summary>
    public async Task StopAsync()
    {
        if (_server is { } server)
        {
            server.StandardInput.Close();
            await server.WaitForExitAsync();
            server.Dispose();
            _server = null;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await StopAsync();
        _folder.Delete(recursive: true);
    }

    private async Task<bool> IsReadyAsync(string port)
    {
        using var asked = Process.Start(new ProcessStartInfo(Path.Combine(_binaries, "pg_isready"), ["-q", "-h", "127.0.0.1", "-p", port]))!;
        await asked.WaitForExitAsync();
        return asked.ExitCode == 0;
    }

    private Task RunAsPostgresAsync(string program, params string[] arguments)
    {
        var command = AsPostgres([Path.Combine(_binaries, program), .. arguments]);
        return RunAsync(command[0], command[1..]);
    }

    private static string[] AsPostgres(string[] command) =>
        Environment.IsPrivilegedProcess ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", .. command] : command;

    private static async Task RunAsync(string program, params string[] arguments)
    {
        using var run = Process.Start(new ProcessStartInfo(program, arguments) { RedirectStandardError = true, RedirectStandardOutput = true, WorkingDirectory = "/" })!;
        var said = await Task.WhenAll(run.StandardError.ReadToEndAsync(), run.StandardOutput.ReadToEndAsync());
        await run.WaitForExitAsync();
        if (run.ExitCode != 0)
        {
            throw new InvalidOperationException($"{program} ended with {run.ExitCode}: {said[0].Trim()}");
        }
    }
}
