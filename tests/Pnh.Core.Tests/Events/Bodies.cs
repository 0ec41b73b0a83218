using System.Text;
using Pnh.Core.Events;

namespace Pnh.Core.Tests.Events;

/// <summary>Reads bodies as the hub does, with three channels and the default classes.</summary>
internal static class Bodies
{
    public static readonly DateTimeOffset Now = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);

    public const string Full = """
        {"id":"01J:ev_1.a~b@c-d","to":{"user":"ada"},"class":"call","ttl":90.5,"collapseKey":"chat-7","ack":{"within":1.5},
         "except":{"users":["eve"],"devices":["d-9"],"sessions":["s-1","s-2"]},"channels":["websocket","apns"],
         "data": {"any" : [1, 2.50, "x\u00e9", null] },
         "notification":{"title":"Grace","body":"Hello","subtitle":"sub","sound":"default","badge":3,"image":"https://example.com/a.png",
           "category":"cat","thread":"th","locales":{"de":{"title":"T","subtitle":"S","body":"Hallo"},"pt-BR":{"body":"Olá"}}},
         "apns":{"aps":{"mutable-content":1}},"fcm":{"android":{}}}
        """;

    private static readonly EventReader Reader = new(ClassPolicies.Default, ["websocket", "apns", "fcm"]);

    public static (Event? Event, List<FieldError> Errors) Read(string json) => Read(Encoding.UTF8.GetBytes(json));

    public static (Event? Event, List<FieldError> Errors) Read(ReadOnlyMemory<byte> body)
    {
        var errors = new List<FieldError>();
        var read = Reader.Read(body, new EventOrigin("demo", Now, 42, "00-trace"), errors);
        return (read, errors);
    }

    public static Event Valid(string json)
    {
        var (read, errors) = Read(json);
        Assert.Empty(errors);
        return Assert.IsType<Event>(read);
    }

    /// <summary>Pointer and code of each error, in the order reported.</summary>
    public static List<string> Faults(string json)
    {
        var (read, errors) = Read(json);
        Assert.Null(read);
        return [.. errors.Select(e => $"{e.Pointer} {e.Code}")];
    }
}
