using System.CommandLine;
using Pnh.Api.Configuration;

namespace Pnh.Api.Commands;

/// <summary>The command line of <c>pnh</c>. No command is <c>serve</c>; tokens that no command knows are configuration.</summary>
internal static class PnhCommandLine
{
    /// <summary>Exit code of a command line or configuration that cannot be used.</summary>
    public const int UsageExitCode = ConfigurationErrors.ExitCode;

    /// <summary>Parses and runs; gives the exit code. Ctrl+C and SIGTERM cancel the token of the action that runs.</summary>
    public static async Task<int> RunAsync(string[] args, CommandActions actions, CommandOutput output, CancellationToken cancellationToken = default)
    {
        // A response file would read "--user @ada" as the file "ada".
        var parsed = Build(actions, output).Parse(args, new ParserConfiguration { ResponseFileTokenReplacer = null, EnablePosixBundling = false });
        if (parsed.Errors.Count > 0)
        {
            foreach (var error in parsed.Errors)
            {
                await output.Error.WriteLineAsync($"pnh: {error.Message}");
            }

            return UsageExitCode;
        }

        // Without null the hub would be killed two seconds into its drain.
        var configuration = new InvocationConfiguration
        {
            ProcessTerminationTimeout = null,
            EnableDefaultExceptionHandler = false,
            Output = output.Out,
            Error = output.Error,
        };
        return await parsed.InvokeAsync(configuration, cancellationToken);
    }

    private static RootCommand Build(CommandActions actions, CommandOutput output)
    {
        var root = new RootCommand("PNH, a push notification hub. Without a command it serves. Configuration goes after it, like --Pnh:Data=/var/lib/pnh");
        root.Directives.Clear();
        var version = root.Options.OfType<VersionOption>().Single();
        version.Action = new PrintVersion(output.Out);
        ServeCommand.Fill(root, actions, output);
        root.Add(ServeCommand.Create(actions, output));
        root.Add(SandboxCommand.Create(actions, output));
        root.Add(TokenCommand.Create(actions, output));
        root.Add(KeyCommand.Create(actions, output));
        root.Add(AddressesCommand.Create(actions, output));
        root.Add(ConsoleCommand.Create(actions, output));
        root.Add(ClusterCommand.Create(actions, output));
        root.Add(TeeCommand.Create(actions, output));
        root.Add(ConfigCommand.Create(actions, output));
        root.Add(SendCommand.Create(actions, output));
        root.Add(EventCommand.Create(actions, output));
        root.Add(EventCommand.CreateUser(actions, output));
        root.Add(EventCommand.CreateTail(actions, output));
        root.Add(DoctorCommand.Create(actions, output));
        root.Add(BackupCommand.Create(actions, output));
        root.Add(BackupCommand.CreateRestore(actions, output));
        root.Add(BenchCommand.Create(actions, output));
        return root;
    }

    private sealed class PrintVersion(TextWriter output) : System.CommandLine.Invocation.SynchronousCommandLineAction
    {
        public override int Invoke(ParseResult parseResult)
        {
            output.WriteLine(ProgramVersion.Text);
            return 0;
        }
    }
}
