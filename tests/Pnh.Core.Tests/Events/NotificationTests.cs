using Pnh.Core.Events;

namespace Pnh.Core.Tests.Events;

public sealed class NotificationTests
{
    private static readonly Notification Sample = Bodies.Valid("""
        {"to":{"user":"a"},"notification":{"title":"T","body":"B","badge":2,"locales":
          {"de":{"body":"B-de"},"zh-Hant":{"body":"B-hant"},"zh":{"body":"B-zh"},"pt-BR":{"title":"T-br","body":"B-br"}}}}
        """).Notification!;

    [Theory]
    [InlineData(null, "B")]
    [InlineData("", "B")]
    [InlineData("fr", "B")]
    [InlineData("de", "B-de")]
    [InlineData("DE", "B-de")]
    [InlineData("de-AT", "B-de")]
    [InlineData("de_AT", "B-de")]
    [InlineData("pt_BR", "B-br")]
    [InlineData("pt", "B")]
    [InlineData("zh-Hant-TW", "B-hant")]
    [InlineData("zh-Hans-CN", "B-zh")]
    [InlineData("-", "B")]
    [InlineData("_de", "B")]
    public void For_Locale_TakesTheNearestText(string? locale, string body) => Assert.Equal(body, Sample.For(locale).Body);

    [Fact]
    public void For_TextWithoutTitle_KeepsTheDefaults()
    {
        var german = Sample.For("de");
        Assert.Equal(("T", "B-de", 2), (german.Title, german.Body, german.Badge));
        Assert.Equal("T-br", Sample.For("pt-BR").Title);
    }

    [Fact]
    public void For_NoMatch_IsTheSameObject() => Assert.Same(Sample, Sample.For("fr"));

    [Theory]
    [InlineData("de-CH-1996", "de")]
    [InlineData("zh-Hant-HK", "zh-Hant")]
    [InlineData("en", null)]
    public void MatchLocale_NamesTheKeyThatServes(string locale, string? key) => Assert.Equal(key, Sample.MatchLocale(locale));
}
