using System.Globalization;
using Pnh.Api.Commands;
using Pnh.Api.Configuration;
using Pnh.Storage.Backups;
using Pnh.Storage.Files;

namespace Pnh.Api.Hosting;

/// <summary>Copies of the data folder, and data folders of copies.</summary>
internal static class BackupCommands
{
    /// <summary><c>backup</c>.</summary>
    public static Task<int> BackUpAsync(BackupRequest request, CommandOutput output, CancellationToken cancellationToken) =>
        RunAsync(request, output, async options => Said(
            await CopyBar.RunAsync(output, "copy", options.Data, copied => FolderBackup.CopyAsync(options.Data, request.Folder, options.Journal, copied, cancellationToken)), request.Folder));

    /// <summary><c>restore</c>.</summary>
    public static Task<int> RestoreAsync(BackupRequest request, CommandOutput output, CancellationToken cancellationToken) =>
        RunAsync(request, output, async options => Said(
            await CopyBar.RunAsync(output, "restore", request.Folder, copied => FolderBackup.RestoreAsync(request.Folder, options.Data, options.Journal, copied, cancellationToken)), options.Data));

    private static string Said(BackupReport report, string folder) =>
        string.Create(CultureInfo.InvariantCulture, $"{folder}: {report.Files} files, {report.Bytes / 1e6:F0} MB; read once, {report.Devices} devices, {report.OpenEvents} events that wait");

    private static async Task<int> RunAsync(BackupRequest request, CommandOutput output, Func<PnhOptions, Task<string>> run)
    {
        if (HubCommands.Read(request.Configuration, output) is not { } options)
        {
            return ConfigurationErrors.ExitCode;
        }

        try
        {
            await output.Out.WriteLineAsync(await run(options));
            return 0;
        }
        catch (DataFolderException fault)
        {
            return HubCommands.Fail(output, fault.Message);
        }
    }
}
