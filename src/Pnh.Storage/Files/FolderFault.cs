using Pnh.Core.Stores;

namespace Pnh.Storage.Files;

/// <summary>What is said once the data folder is another hub's.</summary>
public static class FolderFault
{
    /// <summary>Of everything that was to be written.</summary>
    public static StoreUnavailableException Lost() => new("Another hub has taken the data folder, and this one ends: send it again to that one.");
}
