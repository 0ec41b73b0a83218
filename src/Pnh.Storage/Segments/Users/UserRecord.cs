using System.Runtime.InteropServices;

namespace Pnh.Storage.Segments.Users;

/// <summary>Where a milestone of a user stands in its segment, and of which event it is. 16 bytes, in memory as in a file.</summary>
/// <param name="Key">Half of the user's hash: who reads compares the name.</param>
/// <param name="Offset">Where the milestone stands.</param>
/// <param name="Root">The event's first record.</param>
[StructLayout(LayoutKind.Sequential, Pack = 4)]
internal readonly record struct UserRecord(uint Key, int Offset, long Root) : IComparable<UserRecord>
{
    public const int Bytes = 16;

    /// <summary>By user, then by event, then by place.</summary>
    public int CompareTo(UserRecord other) =>
        Key != other.Key ? Key.CompareTo(other.Key) : Root != other.Root ? Root.CompareTo(other.Root) : Offset.CompareTo(other.Offset);
}
