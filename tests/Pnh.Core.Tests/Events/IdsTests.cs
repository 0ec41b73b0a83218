using Pnh.Core.Events;

namespace Pnh.Core.Tests.Events;

public sealed class IdsTests
{
    [Theory]
    [InlineData("a", true)]
    [InlineData("Ada Lovelace", true)]
    [InlineData("née/数据?#%", true)]
    [InlineData("😀", true)]
    [InlineData("...", true)]
    [InlineData("e\u0301", true)]
    [InlineData("", false)]
    [InlineData(".", false)]
    [InlineData("..", false)]
    [InlineData("a\nb", false)]
    [InlineData("a\u0000", false)]
    [InlineData("a\u007f", false)]
    [InlineData("\u202egnp.exe", false)] // right-to-left override
    [InlineData("a\u200bb", false)] // zero-width space
    [InlineData("\ufeffa", false)] // byte order mark
    [InlineData("a\u2028b", false)]
    [InlineData("\ue000", false)] // private use
    [InlineData("\u0378", false)] // unassigned
    public void IsName_PrintableOnly(string value, bool expected) => Assert.Equal(expected, Ids.IsName(value));

    [Fact]
    public void IsName_HalfASurrogatePair_IsNone()
    {
        Assert.False(Ids.IsName("\ud83d"));
        Assert.False(Ids.IsName("a\ude00"));
    }

    [Fact]
    public void IsName_CountsCharactersNotUnits()
    {
        Assert.True(Ids.IsName(string.Concat(Enumerable.Repeat("😀", 128))));
        Assert.False(Ids.IsName(string.Concat(Enumerable.Repeat("😀", 129))));
        Assert.True(Ids.IsName(new string('x', 128)));
        Assert.False(Ids.IsName(new string('x', 129)));
    }

    [Theory]
    [InlineData("aZ09._:~@-", true)]
    [InlineData("", false)]
    [InlineData("a b", false)]
    [InlineData("é", false)]
    [InlineData("a/b", false)]
    public void IsEventId_OnlyItsCharacters(string value, bool expected) => Assert.Equal(expected, Ids.IsEventId(value));

    [Fact]
    public void IsEventId_AtMost64()
    {
        Assert.True(Ids.IsEventId(new string('a', 64)));
        Assert.False(Ids.IsEventId(new string('a', 65)));
    }

    [Theory]
    [InlineData("demo-1", true)]
    [InlineData("Demo", false)]
    [InlineData("", false)]
    [InlineData("abcdefghijklmnopqrstuvwxyz012345", true)]
    [InlineData("abcdefghijklmnopqrstuvwxyz0123456", false)]
    public void IsApp_LowerCaseUpTo32(string value, bool expected) => Assert.Equal(expected, Ids.IsApp(value));

    [Fact]
    public void NewEventId_IsValidAndOrderedByTime()
    {
        var first = Ids.NewEventId(Bodies.Now);
        var second = Ids.NewEventId(Bodies.Now.AddMilliseconds(1));
        Assert.True(Ids.IsEventId(first));
        Assert.True(string.CompareOrdinal(first, second) < 0);
    }
}
