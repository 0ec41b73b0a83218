using System.Net.Sockets;
using System.Text.Json;
using Pnh.LoadTest.Measure;
using Pnh.LoadTest.Options;
using Pnh.LoadTest.Overload;
using Pnh.LoadTest.Profiles;

namespace Pnh.LoadTest;

/// <summary>The load tester as one call, for its own program and for <c>pnh bench</c>. Linux only.</summary>
public static class LoadTester
{
    /// <summary>Every profile's name, parted by spaces. A constant: a program that only prints it does not load this assembly.</summary>
    public const string Profiles = "broadcast one ndjson echo chat fan-out storm groups silent idle stop mixed overload selfcheck";

    private const int WrongExitCode = 1;
    private const int FailedExitCode = 2;

    /// <summary>
    /// Runs a profile on the calling thread. 0 = everything was taken or refused, and what was taken arrived as it should; 1 = something did not, with a line of what; 2 = a wrong command
    /// line, or the hub could not be driven, with a line of why.
    /// </summary>
    /// <param name="args">The profile's name and its options (bench/README.md).</param>
    /// <param name="defaults">Values of options, without dashes, that hold unless given; names that the profile does not know are passed over.</param>
    /// <param name="output">Gets the result.</param>
    /// <param name="error">Gets the complaint.</param>
    public static async Task<int> RunAsync(string[] args, IReadOnlyDictionary<string, string> defaults, TextWriter output, TextWriter error)
    {
        ArgumentNullException.ThrowIfNull(args);
        ArgumentNullException.ThrowIfNull(output);
        ArgumentNullException.ThrowIfNull(error);
        try
        {
            return await RunProfileAsync(args, defaults, output, error);
        }
        catch (Exception fault) when (fault is ArgumentException or InvalidOperationException or InvalidDataException or IOException or SocketException or UnauthorizedAccessException)
        {
            await error.WriteLineAsync(fault.Message);
            return FailedExitCode;
        }
    }

    private static async Task<int> RunProfileAsync(string[] args, IReadOnlyDictionary<string, string> defaults, TextWriter output, TextWriter error)
    {
        var name = args.Length > 0 ? args[0] : "";
        switch (name)
        {
            case "selfcheck":
                return SelfCheck.Run();
            case "compare":
                await File.WriteAllTextAsync(args[2], Comparison.Of(await File.ReadAllLinesAsync(args[1]), args[3]));
                return 0;
            case "pair":
                var table = PairTable.Of(await File.ReadAllLinesAsync(args[1]), args[3]);
                await File.WriteAllTextAsync(args[2], table);
                return PairTable.IsBad(table) ? WrongExitCode : 0;
            case "overload":
                return await OverloadProfile.RunAsync(args[1..], defaults) ? 0 : WrongExitCode;
        }

        if (!Catalogue.Profiles.TryGetValue(name, out var profile))
        {
            throw new ArgumentException($"no such profile: '{name}'; there are {Profiles}");
        }

        if (!OperatingSystem.IsLinux())
        {
            throw new InvalidOperationException("the load tester needs Linux (epoll)");
        }

        using var run = new BenchRun(new BenchOptions(name, args[1..], defaults));
        var result = profile(run) with { Pair = run.Options.Pair > 0 ? run.Options.Pair : null };
        await output.WriteLineAsync(run.Options.Json ? JsonSerializer.Serialize(result, BenchJson.Default.BenchResult) : ResultTable.Of(result));
        if (result.IsClean)
        {
            return 0;
        }

        await error.WriteLineAsync($"not clean: {string.Join("; ", result.Problems)}");
        return WrongExitCode;
    }
}
