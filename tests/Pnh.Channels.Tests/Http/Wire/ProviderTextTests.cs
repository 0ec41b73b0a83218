using Pnh.Channels.Net.Http;
using Pnh.Channels.Tests.Apns;

namespace Pnh.Channels.Tests.Http.Wire;

public sealed class ProviderTextTests
{
    [Theory]
    [InlineData("BadDeviceToken", "BadDeviceToken")]
    [InlineData("Gerät ü 中 🙂", "Gerät ü 中 🙂")]
    [InlineData("a\r\nINFO: all is well", "a??INFO: all is well")]
    [InlineData("\u001B[2J\0\u007F\u009B", "?[2J???")]
    [InlineData("a\u202Eb\u2066c\u200Fd\uFEFF", "a?b?c?d?")]
    [InlineData("\u2028\u2029\u00AD\uE000", "????")]
    public void Clean_ByCharacter_NothingThatMovesTheCursorOrTurnsTheWriting(string text, string expected) =>
        Assert.Equal(expected, ProviderText.Clean(text));

    [Fact]
    public void Clean_NothingToDo_TheSameString()
    {
        var text = new string('x', 10);
        Assert.Same(text, ProviderText.Clean(text));
    }

    [Fact]
    public async Task SendAsync_ReasonWithControlAndBidiCharacters_CleanInTheResult()
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(400, """{"reason":"Bad\u001b[31m\u202eTopic\n"}"""));

        var result = await apns.SendAsync(Sample.Event(apns.Time));

        Assert.Equal("Bad?[31m?Topic?", result.Reason);
    }
}
