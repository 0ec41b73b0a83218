using Pnh.Core.Stores;
using Pnh.Storage.Files;
using Pnh.Storage.Registry;
using Pnh.Storage.Segments;

namespace Pnh.Api.Engines;

/// <summary>
/// Sees to it that registry and journal are of one data folder: both carry its id. With another registry, or a new one, every unfinished event would be of users that
/// nobody knows.
/// </summary>
internal sealed class FolderPairing(string folder, SqliteDeviceStore registry, SegmentJournal journal, ForeignRegistryPolicy policy, TimeProvider time)
{
    private const string Accept = "or start with Pnh:Journal:OnForeignRegistry=accept to go on with these two. Events of users that it does not have wait for them until they are over";

    private const string AcceptNew = "or start with Pnh:Journal:OnForeignRegistry=accept to begin a new one. What the other had accepted and not delivered stays with it";

    /// <summary>Gives the registry the folder's id when it has none. Throws <see cref="DataFolderException"/> when it is not the journal's.</summary>
    public async Task CheckAsync(CancellationToken cancellationToken)
    {
        try
        {
            await PairAsync(cancellationToken);
        }
        catch (StoreUnavailableException fault)
        {
            throw new DataFolderException(fault.Message, fault);
        }
    }

    private async Task PairAsync(CancellationToken cancellationToken)
    {
        var mark = await registry.ReadFolderAsync(cancellationToken);
        if (mark.Folder != journal.FolderId)
        {
            if (policy == ForeignRegistryPolicy.Refuse && await FindFaultAsync(mark, cancellationToken) is { } fault)
            {
                throw new DataFolderException($"{Path.Combine(folder, "registry.db")} {fault}.");
            }

            await registry.PutFolderAsync(journal.FolderId);
        }

        await journal.PairAsync();
    }

    // A registry without id is an older version's as long as the journal has not met one with it.
    private async Task<string?> FindFaultAsync(FolderMark mark, CancellationToken cancellationToken)
    {
        if (mark.Folder != 0)
        {
            return journal.IsPaired
                ? $"and the journal beside it are of two data folders: put the one back that belongs to the other, {Accept}"
                : $"is of a data folder whose journal is not there, and the one beside it is new: put the journal folder back that belongs to the registry, {AcceptNew}";
        }

        return (mark.IsEmpty || journal.IsPaired) && await HasOpenAsync(cancellationToken)
            ? $"is {(mark.IsEmpty ? "new" : "not the journal's")}, and the journal beside it has unfinished events: put the one back that belongs to the journal, {Accept}" : null;
    }

    private async Task<bool> HasOpenAsync(CancellationToken cancellationToken)
    {
        await foreach (var unfinished in journal.RecoverAsync(cancellationToken))
        {
            if (unfinished.Event.ExpiresAt > time.GetUtcNow())
            {
                return true;
            }
        }

        return false;
    }
}
