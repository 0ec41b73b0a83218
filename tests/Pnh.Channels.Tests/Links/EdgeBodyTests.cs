using System.Text;
using Pnh.Channels.Links.Protocol;
using Pnh.Core.Events;

namespace Pnh.Channels.Tests.Links;

/// <summary>Edges up to version 4 get what the first of them know, whatever the event has.</summary>
public sealed class EdgeBodyTests
{
    private static readonly EventReader Reader = new(ClassPolicies.Default, ["websocket", "apns"]);

    [Theory]
    [InlineData("""{"to":{"user":"a"},"priority":"now","data":{ "a" : [1,  2] }}""", """{"class":"message","to":{"user":"-"},"data":{ "a" : [1,  2] }}""")]
    [InlineData("""{"class":"call","collapseKey":"k","to":{"topic":"t"},"ack":{"within":5}}""", """{"class":"call","to":{"topic":"t"},"collapseKey":"k"}""")]
    [InlineData("""{"to":{"users":["a","b"]},"except":{"users":["b"]},"channels":["apns"]}""", """{"class":"message","to":{"user":"-"}}""")]
    [InlineData("""{"to":{"user":"a"},"notification":{"channel":"c","title":"T","mutable":true,"badge":3}}""", """{"class":"message","to":{"user":"-"},"notification":{"title":"T","badge":3}}""")]
    [InlineData("""{"to":{"user":"a"},"notification":{"titleKey":"k","titleArgs":["a,","]}"],"bodyKey":"l","link":"https://a/"}}""", """{"class":"message","to":{"user":"-"},"notification":{}}""")]
    [InlineData("""{"to":{"user":"a"},"notification":{"interruption":"critical","volume":0.5,"relevance":1,"body":"B","locales":{"de":{"body":"C"}}}}""",
        """{"class":"message","to":{"user":"-"},"notification":{"body":"B","locales":{"de":{"body":"C"}}}}""")]
    public void Of_AnyEvent_HasWhatTheFirstEdgesKnow(string posted, string body)
    {
        var errors = new List<FieldError>();
        var accepted = Reader.Read(Encoding.UTF8.GetBytes(posted), new EventOrigin("demo", default, 1), errors);
        Assert.Empty(errors);

        var made = EdgeBody.Of(accepted!);

        Assert.Equal(body, Encoding.UTF8.GetString(made));
        Assert.NotNull(Reader.Read(made, new EventOrigin("demo", default, 1), errors));
    }
}
