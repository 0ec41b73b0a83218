using Pnh.Api.Access;

namespace Pnh.Api.Tests.Access;

public sealed class PublisherKeysTests
{
    [Fact]
    public void Create_NewKey_HasTheDocumentedFormAndItsHash()
    {
        var (secret, key) = PublisherKey.Create("my-shop", Scope.Send | Scope.Read);

        Assert.Matches("^pnh_my-shop_[A-Za-z0-9_-]{43}$", secret);
        Assert.Equal((KeyHash.Of(secret), "my-shop", Scope.Send | Scope.Read), (key.Hash, key.App, key.Scopes));
        Assert.NotEqual(secret, PublisherKey.Create("my-shop", Scope.Send).Secret);
        Assert.DoesNotContain(key.Hash.ToHex(), key.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void Find_ConfiguredAndAddedKeys_AreFoundAndOthersNot()
    {
        var (first, configured) = PublisherKey.Create("a", Scope.Send);
        var (second, added) = PublisherKey.Create("b", Scope.Admin);
        var keys = new PublisherKeys([configured]);

        Assert.Null(keys.Find(second));
        Assert.True(keys.Add(added));
        Assert.False(keys.Add(added));
        Assert.False(keys.Add(configured));
        Assert.Equal(("a", Scope.Send), (keys.Find(first)!.App, keys.Find(first)!.Scopes));
        Assert.Equal("b", keys.Find(second)!.App);
        Assert.Null(keys.Find(first + "x"));
        Assert.Null(keys.Find(""));
        Assert.Null(keys.Find(new string('k', 1_000_000)));
    }

    [Fact]
    public void Find_HotPath_AllocatesNothing()
    {
        var (secret, configured) = PublisherKey.Create("a", Scope.Send);
        var keys = new PublisherKeys([configured]);
        for (var i = 0; i < 1_000; i++)
        {
            keys.Find(secret);
        }

        var before = GC.GetAllocatedBytesForCurrentThread();
        for (var i = 0; i < 1_000; i++)
        {
            keys.Find(secret);
            keys.Find("pnh_a_unknown-key-unknown-key");
        }

        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
    }

    /// <summary>The test vector of FIPS 180-2 appendix B.1: SHA-256 of "abc".</summary>
    [Fact]
    public void KeyHash_KnownText_IsItsSha256()
    {
        const string hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

        Assert.Equal(hex, KeyHash.Of("abc").ToHex());
        Assert.True(KeyHash.TryParse(hex.ToUpperInvariant(), out var parsed));
        Assert.Equal(KeyHash.Of("abc"), parsed);
        Assert.False(KeyHash.TryParse(hex[1..], out _));
        Assert.False(KeyHash.TryParse(hex[..^1] + "g", out _));
    }

    [Theory]
    [InlineData("send", Scope.Send, "send")]
    [InlineData("read,send", Scope.Send | Scope.Read, "send read")]
    [InlineData(" admin  register ", Scope.Admin | Scope.Register, "register admin")]
    internal void Scopes_KnownNames_AreReadAndWritten(string text, Scope scopes, string written)
    {
        Assert.True(Scopes.TryParse(text, out var read, out _));
        Assert.Equal((scopes, written), (read, read.Text()));
    }

    [Theory]
    [InlineData(null, null)]
    [InlineData(" , ", null)]
    [InlineData("send Send", "Send")]
    public void Scopes_OtherTexts_AreRefused(string? text, string? expected)
    {
        Assert.False(Scopes.TryParse(text, out _, out var unknown));
        Assert.Equal(expected, unknown);
    }

    [Fact]
    public void Cover_Admin_CoversAllAndOthersOnlyThemselves()
    {
        Assert.True(Scope.Admin.Cover(Scope.Send | Scope.Register | Scope.Read | Scope.Admin));
        Assert.True((Scope.Send | Scope.Read).Cover(Scope.Read));
        Assert.False(Scope.Send.Cover(Scope.Read));
        Assert.False((Scope.Send | Scope.Register | Scope.Read).Cover(Scope.Admin));
    }

    [Fact]
    public void OperatorSecret_FirstRead_MakesAFileOnlyItsOwnerMayRead()
    {
        var folder = Directory.CreateTempSubdirectory("pnh-test-").FullName;
        try
        {
            Assert.Null(OperatorSecret.Read(folder));
            var secret = OperatorSecret.ReadOrCreate(folder);

            Assert.Equal(secret, OperatorSecret.ReadOrCreate(folder));
            Assert.Equal(secret, OperatorSecret.Read(folder));
            Assert.True(secret.Length > 40);
            Assert.Equal([OperatorSecret.FileName], Directory.GetFiles(folder).Select(Path.GetFileName));
            if (!OperatingSystem.IsWindows())
            {
                Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(Path.Combine(folder, OperatorSecret.FileName)));
            }
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }
}
