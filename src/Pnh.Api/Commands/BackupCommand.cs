using System.CommandLine;

namespace Pnh.Api.Commands;

/// <summary><c>pnh backup FOLDER</c>: copies the data of the hub that runs or stands here. <c>pnh restore FOLDER</c>: makes a data folder of such a copy.</summary>
internal static class BackupCommand
{
    /// <summary><c>backup</c>.</summary>
    public static Command Create(CommandActions actions, CommandOutput output) =>
        Create("backup", "Copy the data folder, also while the hub runs, and read the copy once", "Where the copy goes: a folder that does not exist, or is empty", actions.BackUpAsync, output);

    /// <summary><c>restore</c>.</summary>
    public static Command CreateRestore(CommandActions actions, CommandOutput output) =>
        Create("restore", "Make the data folder of a copy; it must not exist, or be empty", "The copy, as pnh backup made it", actions.RestoreAsync, output);

    private static Command Create(
        string name, string description, string folderIs, Func<BackupRequest, CommandOutput, CancellationToken, Task<int>> run, CommandOutput output)
    {
        var folder = new Argument<string>("folder") { Description = folderIs };
        var command = new Command(name, description) { folder };
        command.TreatUnmatchedTokensAsErrors = false;
        command.SetAction(async (parsed, cancellationToken) => ConfigurationTokens.Read(parsed, output) is { } configuration
            ? await run(new(parsed.GetValue(folder)!, configuration), output, cancellationToken)
            : PnhCommandLine.UsageExitCode);
        return command;
    }
}
