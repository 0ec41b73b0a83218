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
    [InlineData("pt", "B-br")]
    [InlineData("pt-PT", "B-br")]
    [InlineData("zh-Hant-TW", "B-hant")]
    [InlineData("zh-Hans-CN", "B-zh")]
    [InlineData("-", "B")]
    [InlineData("_de", "B")]
    public void For_Locale_TakesTheNearestText(string? locale, string body) => Assert.Equal(body, Sample.For(locale).Body);

    [Fact]
    public void Read_HowItIsShown_IsKept()
    {
        var read = Bodies.Valid("""
            {"to":{"user":"a"},"priority":"saving","notification":{"title":"T","channel":"orders","interruption":"critical","volume":0.25,"relevance":0.5,"mutable":true}}
            """);

        Assert.Equal(PushPriority.Saving, read.Priority);
        var shown = read.Notification!;
        Assert.Equal(("orders", Interruption.Critical, 0.25, 0.5, true, true), (shown.Channel, shown.Interruption, shown.Volume, shown.Relevance, shown.IsMutable, shown.Manner is not null));
        Assert.Equal((PushPriority.ByClass, false), (Bodies.Valid("""{"to":{"user":"a"},"notification":{"title":"T"}}""").Priority, Sample.Manner is not null));
    }

    [Fact]
    public void Read_LinkOfASchemeThatTheAppLists_IsTakenAndOneOfAStoredEventStays()
    {
        var reader = new EventReader(ClassPolicies.Default, ["websocket"]) { LinkSchemes = static app => app == "demo" ? ["myapp"] : [] };
        byte[] body = [.. """{"to":{"user":"a"},"notification":{"titleKey":"k","titleArgs":["x","y"],"link":"MyApp://orders/7"}}"""u8];

        var read = reader.Read(body, new EventOrigin("demo", default, 1), [])!.Notification!;
        Assert.Equal(("MyApp://orders/7", "k", "x,y", true), (read.Link, read.TitleKey, string.Join(',', read.TitleArgs), read.IsNoticed));
        Assert.Null(reader.Read(body, new EventOrigin("other", default, 1), new List<FieldError>()));
        Assert.NotNull(reader.Read(body, new EventOrigin("other", default, 1, ExpiresAt: DateTimeOffset.MaxValue), new List<FieldError>()));
    }

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
    [InlineData("zh-TW", "zh-Hans zh-Hant", "zh-Hant")]
    [InlineData("zh-HK", "zh zh-TW", "zh-TW")]
    [InlineData("zh-HK", "zh-Hant zh-Hant-HK", "zh-Hant-HK")]
    [InlineData("zh-MO", "zh-TW zh-HK", "zh-HK")]
    [InlineData("zh_TW_#Hant", "zh-Hans zh-TW", "zh-TW")]
    [InlineData("zh-CN", "zh-Hant zh-Hans", "zh-Hans")]
    [InlineData("zh-SG", "zh-Hant zh", "zh")]
    [InlineData("zh-Hant", "zh en", null)]
    [InlineData("zh", "zh-TW zh-CN", "zh-CN")]
    [InlineData("zh-cmn-Hans-CN", "zh-Hans", "zh-Hans")]
    [InlineData("zh-yue-HK", "zh-Hans yue", "yue")]
    [InlineData("sr-ME", "sr sr-Latn", "sr-Latn")]
    [InlineData("sh", "sr sr-Latn", "sr-Latn")]
    [InlineData("sr-Latn-RS", "sr", null)]
    [InlineData("es-MX", "es es-419", "es-419")]
    [InlineData("es-MX", "es-ES es-AR", "es-AR")]
    [InlineData("es-MX", "es-ES en", "es-ES")]
    [InlineData("es-GQ", "es-419 es", "es")]
    [InlineData("es-419", "es-ES es-MX", "es-MX")]
    [InlineData("pt-AO", "pt pt-PT", "pt-PT")]
    [InlineData("pt-AO", "pt-BR", "pt-BR")]
    [InlineData("pt", "pt-PT pt-BR", "pt-BR")]
    [InlineData("en-AU", "en en-001", "en-001")]
    [InlineData("en-DE", "en-US en-GB", "en-GB")]
    [InlineData("en-US", "en-GB", "en-GB")]
    [InlineData("en", "en-GB en-US", "en-US")]
    [InlineData("iw-IL", "he", "he")]
    [InlineData("he", "iw", "iw")]
    [InlineData("in_ID", "id", "id")]
    [InlineData("nb-NO", "no", "no")]
    [InlineData("nn-NO", "nb", "nb")]
    [InlineData("tl-PH", "fil", "fil")]
    [InlineData("de_DE.UTF-8", "de", "de")]
    [InlineData("de-DE-u-co-phonebk", "de", "de")]
    [InlineData("DE-at", "de-AT de", "de-AT")]
    [InlineData("ru-Cyrl-RU", "ru", "ru")]
    [InlineData("fr-CA", "fr-FR fr", "fr")]
    [InlineData("english", "en", null)]
    [InlineData("x-private", "en", null)]
    [InlineData("12", "en", null)]
    public void MatchLocale_AsCldrRelatesThem(string locale, string keys, string? key) =>
        Assert.Equal(key, new Notification { Locales = keys.Split(' ').ToDictionary(static one => one, static _ => new LocalizedText("T", null, null)) }.MatchLocale(locale));

    [Theory]
    [InlineData("de-CH-1996", "de")]
    [InlineData("zh-Hant-HK", "zh-Hant")]
    [InlineData("en", null)]
    public void MatchLocale_NamesTheKeyThatServes(string locale, string? key) => Assert.Equal(key, Sample.MatchLocale(locale));
}
