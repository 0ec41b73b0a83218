using Pnh.Api.Commands;
using Pnh.Api.Hosting;

namespace Pnh.Api.Tests.Commands;

/// <summary>A command of the real program, in process.</summary>
internal static class CommandRun
{
    public static async Task<(int ExitCode, string Out, string Error)> RunAsync(params string[] line)
    {
        using var output = new StringWriter();
        using var error = new StringWriter();
        var both = new CommandOutput(output, error);
        return (await PnhCommandLine.RunAsync(line, HubCommands.Create(both), both), output.ToString(), error.ToString());
    }
}
