using System.Text;
using Pnh.Storage.Segments.Format;

namespace Pnh.Core.Tests.Journal;

/// <summary>Two bodies under one id, of which one writes out what is so anyway.</summary>
public sealed class SameEventTests
{
    private static readonly TimeSpan Day = TimeSpan.FromDays(1);

    [Theory]
    [InlineData("""{"to":{"user":"a"},"data":1.50}""", """{"data":1.5, "to":{"user":"a"}}""", true)]
    [InlineData("""{"to":{"user":"a"}}""", """{"to":{"user":"a"},"class":"message"}""", true)]
    [InlineData("""{"id":"e","to":{"user":"a"}}""", """{"to":{"user":"a"}}""", true)]
    [InlineData("""{"to":{"user":"a"},"except":{"users":[],"devices":[]},"ack":{}}""", """{"to":{"user":"a"}}""", true)]
    [InlineData("""{"to":{"user":"a"},"notification":{"title":"T","mutable":false,"locales":{},"titleArgs":[]}}""", """{"to":{"user":"a"},"notification":{"title":"T"}}""", true)]
    [InlineData("""{"to":{"user":"a"},"notification":{"interruption":"critical","volume":1.0}}""", """{"to":{"user":"a"},"notification":{"interruption":"critical"}}""", true)]
    [InlineData("""{"to":{"user":"a"},"ttl":86400}""", """{"to":{"user":"a"},"class":"message"}""", true)]
    [InlineData("""{"to":{"user":"a"}}""", """{"to":{"user":"a"},"class":"bulk"}""", false)]
    [InlineData("""{"to":{"user":"a"}}""", """{"to":{"user":"a"},"data":{"class":"message"}}""", false)]
    [InlineData("""{"to":{"user":"a"},"data":{"mutable":false}}""", """{"to":{"user":"a"},"data":{}}""", false)]
    [InlineData("""{"to":{"user":"a"},"except":{"users":["b"]}}""", """{"to":{"user":"a"}}""", false)]
    [InlineData("""{"to":{"user":"a"},"notification":{"mutable":true}}""", """{"to":{"user":"a"},"notification":{}}""", false)]
    [InlineData("""{"to":{"user":"a"},"ttl":60}""", """{"to":{"user":"a"},"ttl":61}""", false)]
    public void Is_DefaultWrittenOutOrLeftOut_IsTheSameEvent(string one, string other, bool isSame)
    {
        Assert.Equal(isSame, Is(one, Day, other, Day));
        Assert.Equal(isSame, Is(other, Day, one, Day));
    }

    [Fact]
    public void Is_TtlThatIsNotTheDefault_IsAnother()
    {
        Assert.False(Is("""{"to":{"user":"a"},"ttl":60}""", TimeSpan.FromSeconds(60), """{"to":{"user":"a"}}""", Day));

        // The configuration's default may have changed since.
        Assert.True(Is("""{"to":{"user":"a"}}""", TimeSpan.FromHours(1), """{"to":{"user":"a"}}""", Day));
    }

    private static bool Is(string standing, TimeSpan standingLife, string body, TimeSpan life) =>
        SameEvent.Is(Encoding.UTF8.GetBytes(standing), standingLife, Encoding.UTF8.GetBytes(body), life);
}
