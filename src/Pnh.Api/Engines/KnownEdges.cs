using Pnh.Storage.Files;

namespace Pnh.Api.Engines;

/// <summary>The links of edges that the hub had last, in a file of its data folder: for these it waits a moment when it is started again.</summary>
internal sealed partial class KnownEdges(string dataFolder, ILogger<KnownEdges> log)
{
    /// <summary>Name of the file.</summary>
    public const string FileName = "edges";

    private readonly string _file = Path.Combine(dataFolder, FileName);

    /// <summary>As they were written last; none when there is no file that can be read. Each one is a name that <c>LinkServer</c> gave.</summary>
    public IReadOnlyCollection<string> Read()
    {
        try
        {
            return File.Exists(_file) ? [.. File.ReadLines(_file).Where(static line => line.Length > 0)] : [];
        }
        catch (Exception fault) when (fault is IOException or UnauthorizedAccessException)
        {
            Unreadable(log, _file, fault.Message);
            return [];
        }
    }

    /// <summary>Writes them. Without a disk the next start waits for those of before.</summary>
    public void Write(IReadOnlyCollection<string> links)
    {
        try
        {
            ReplacedFile.WriteLines(_file, links);
        }
        catch (Exception fault) when (fault is IOException or UnauthorizedAccessException)
        {
            Unreadable(log, _file, fault.Message);
        }
    }

    [LoggerMessage(1, LogLevel.Warning, "{File} cannot be used: {Why} A restart does not wait for the edges that it names.", EventName = "EdgesUnknown")]
    private static partial void Unreadable(ILogger logger, string file, string why);
}
