using System.Text;
using Pnh.Channels.Links.Protocol;
using Pnh.Core.Events;

namespace Pnh.Channels.Tests.Links;

/// <summary>What edges of version 3 do not know is cut out of an event's body, and nothing else.</summary>
public sealed class EdgeBodyTests
{
    private static readonly EventReader Reader = new(ClassPolicies.Default, ["websocket", "apns"]);

    [Theory]
    [InlineData("""{"to":{"user":"a"},"priority":"now","data":{ "a" : [1,  2] }}""", """{"to":{"user":"a"},"data":{ "a" : [1,  2] }}""")]
    [InlineData("""{"priority":"saving","to":{"user":"a"}}""", """{"to":{"user":"a"}}""")]
    [InlineData("""{"to":{"user":"a"} , "priority" : "now" }""", """{"to":{"user":"a"}  }""")]
    [InlineData("""{"to":{"user":"a"},"notification":{"channel":"c","title":"T","mutable":false}}""", """{"to":{"user":"a"},"notification":{"title":"T"}}""")]
    [InlineData("""{"to":{"user":"a"},"notification":{"title":"T","interruption":"critical","volume":0.5,"relevance":1}}""", """{"to":{"user":"a"},"notification":{"title":"T"}}""")]
    [InlineData("""{"notification":{"\u0063hannel":"c"},"to":{"user":"a"},"\u0070riority":"now"}""", """{"notification":{},"to":{"user":"a"}}""")]
    [InlineData("""{"to":{"user":"a"},"data":{"priority":1,"channel":2},"apns":{"notification":{"channel":1}},"priority":"now"}""", """{"to":{"user":"a"},"data":{"priority":1,"channel":2},"apns":{"notification":{"channel":1}}}""")]
    [InlineData("""{"to":{"user":"a"},"notification":{"titleKey":"k","titleArgs":["a,","]}"],"bodyKey":"l","link":"https://a/","title":"T"}}""", """{"to":{"user":"a"},"notification":{"title":"T"}}""")]
    [InlineData("""{"to":{"user":"a"},"notification":{"title":"T"},"data":{"channel":1}}""", """{"to":{"user":"a"},"notification":{"title":"T"},"data":{"channel":1}}""")]
    public void Of_MembersThatCameLater_AreCutOut(string body, string left)
    {
        var errors = new List<FieldError>();
        var accepted = Reader.Read(Encoding.UTF8.GetBytes(body), new EventOrigin("demo", default, 1), errors);
        Assert.Empty(errors);

        Assert.Equal(left, Encoding.UTF8.GetString(EdgeBody.Of(accepted!).Span.ToArray()));
    }
}
