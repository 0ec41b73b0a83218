using System.Text;
using Pnh.Api.Ingest;
using Pnh.Core.Events;

namespace Pnh.Api.Tests.Ingest;

/// <summary>Which class an event is refused as before it is read: the one that it has.</summary>
public sealed class ClassPeekTests
{
    private static readonly EventReader Reader = new(ClassPolicies.Default, ["websocket", "apns"]);

    [Theory]
    [InlineData("""{"to":{"user":"a"}}""", EventClass.Message)]
    [InlineData("""{"to":{"user":"a"},"class":"message"}""", EventClass.Message)]
    [InlineData("""{"to":{"user":"a"},"class":"bulk"}""", EventClass.Bulk)]
    [InlineData(""" { "class" : "transient" , "to" : { "user" : "a" } } """, EventClass.Transient)]
    [InlineData("""{"to":{"user":"a"},"data":[{"x":[]},null,-1.5e3,"]}\""],"class":"call"}""", EventClass.Call)]
    [InlineData("""{"to":{"user":"a"},"data":{"bulk":1}}""", EventClass.Message)]
    [InlineData("""{"to":{"user":"a"},"class":"message","data":{"class":"bulk","a":"transient"}}""", EventClass.Message)]
    [InlineData("""{"to":{"user":"a"},"data":{"class":"call"},"class":"bulk"}""", EventClass.Bulk)]
    [InlineData("""{"to":{"user":"call"},"class":"bulk"}""", EventClass.Bulk)]
    [InlineData("""{"id":"class","to":{"user":"bulk"}}""", EventClass.Message)]
    [InlineData("""{"to":{"user":"a"},"class":"c\u0061ll"}""", EventClass.Call)]
    [InlineData("""{"to":{"user":"a"},"cl\u0061ss":"call"}""", EventClass.Call)]
    [InlineData("""{"to":{"user":"a"},"\u0063lass":"tr\u0061nsient","data":"bulk"}""", EventClass.Transient)]
    public void ClassIn_ValidEvent_IsItsClass(string body, EventClass @class)
    {
        var bytes = Encoding.UTF8.GetBytes(body);
        Assert.Equal(@class, ClassPeek.ClassIn(bytes));
        Assert.Equal(@class, Reader.Read(bytes, new EventOrigin("demo", DateTimeOffset.UnixEpoch, 0), [])!.Class);
    }

    [Theory]
    [InlineData("")]
    [InlineData("{")]
    [InlineData("7")]
    [InlineData("""["class","bulk"]""")]
    [InlineData("""[{"class":"bulk"}]""")]
    [InlineData("""{"class":7}""")]
    [InlineData("""{"class":{"class":"bulk"}}""")]
    [InlineData("""{"class":"urgent"}""")]
    [InlineData("""{"class":"bulk""")]
    [InlineData("""{"data":[1,,2],"class":"bulk"}""")]
    [InlineData("""{"class":"\ud800"}""")]
    [InlineData("""{"class":"bul\ud800"}""")]
    [InlineData("""{"cl\ud800s":"x","class":"bulk"}""")]
    [InlineData("""{"data":[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]],"class":"bulk"}""")]
    public void ClassIn_NoEvent_IsMessage(string body) => Assert.Equal(EventClass.Message, ClassPeek.ClassIn(Encoding.UTF8.GetBytes(body)));
}
