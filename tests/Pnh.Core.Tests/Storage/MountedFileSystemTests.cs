using Pnh.Storage.Files;

namespace Pnh.Core.Tests.Storage;

public sealed class MountedFileSystemTests
{
    private static readonly string[] Lines =
    [
        "22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/root rw",
        "30 22 0:26 / /data rw,relatime shared:5 master:1 - nfs4 server:/export rw",
        "31 22 0:27 / /data rw,relatime - cifs //server/share rw",
        @"32 22 0:28 / /my\040data rw,relatime - fuse.sshfs host: rw",
        "of no use",
    ];

    [Theory]
    [InlineData("/data", "cifs", "/data")]
    [InlineData("/data/pnh", "cifs", "/data")]
    [InlineData("/database", "ext4", "/")]
    [InlineData("/my data/pnh", "fuse.sshfs", "/my data")]
    public void Of_List_IsTheLastOfTheLongestMountPoint(string folder, string kind, string at) =>
        Assert.Equal(new MountedFileSystem(kind, at), MountedFileSystem.Of(folder, Lines));

    [Fact]
    public void Of_ThisMachine_HasOne() => Assert.NotNull(MountedFileSystem.Of(Path.GetTempPath()));
}
