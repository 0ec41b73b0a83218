using Pnh.Api.Engines;
using Pnh.Core.Hubs;
using Pnh.Storage.Files;

namespace Pnh.Api.Operations;

/// <summary>Looks each second whether the data folder is still this hub's. A hub that finds another one's number writes and pushes nothing more, refuses events, and ends.</summary>
internal sealed partial class FolderWatch(
    DataFolder folder, IStorageEngine engine, Hub hub, Readiness readiness, IHostApplicationLifetime lifetime, TimeProvider time, ILogger<FolderWatch> log) : BackgroundService
{
    private static readonly TimeSpan Every = TimeSpan.FromSeconds(1);

    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        using var timer = new PeriodicTimer(Every, time);
        try
        {
            do
            {
                await timer.WaitForNextTickAsync(stoppingToken);
            }
            while (!folder.Incarnation.Look());
        }
        catch (OperationCanceledException)
        {
            return;
        }

        Lost(log, folder.FolderPath);
        readiness.IsReady = false;
        engine.Lose();
        await hub.StopAsync(new CancellationToken(canceled: true));
        lifetime.StopApplication();
    }

    [LoggerMessage(1, LogLevel.Critical,
        "Another hub has taken the data folder {Folder}: this one writes and pushes nothing more, and ends. Its file system grants one lock twice: give each hub a folder of its own.",
        EventName = "FolderLost")]
    private static partial void Lost(ILogger logger, string folder);
}
