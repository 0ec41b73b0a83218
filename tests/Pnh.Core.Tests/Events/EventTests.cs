using System.Reflection;
using System.Text;
using Pnh.Core.Events;

namespace Pnh.Core.Tests.Events;

public sealed class EventTests
{
    private static readonly DateTimeOffset Start = new(2026, 5, 1, 12, 0, 0, TimeSpan.Zero);

    [Fact]
    public void TakenAt_Later_MovesItsTimesAndNothingElse()
    {
        const string Json = """
            {"id":"e1","to":{"user":"ada"},"class":"call","ttl":20,"collapseKey":"k","ack":{"within":2},"except":{"devices":["d"]},"channels":["apns"],
             "data":{"n":1},"notification":{"title":"t"},"apns":{"aps":{"badge":1}}}
            """;
        var errors = new List<FieldError>();
        var reader = new EventReader(ClassPolicies.Default, ["apns"]);
        var before = reader.Read(Encoding.UTF8.GetBytes(Json), new EventOrigin("app", Start, 7, "00-1-2-03"), errors);
        Assert.Empty(errors);
        var after = before!.TakenAt(Start + TimeSpan.FromSeconds(5), 9);

        Assert.Equal((Start + TimeSpan.FromSeconds(5), 9, Start + TimeSpan.FromSeconds(25)), (after.AcceptedAt, after.AcceptedTimestamp, after.ExpiresAt));
        Assert.NotSame(before.Encodings, after.Encodings);
        string[] moved = [nameof(Event.AcceptedAt), nameof(Event.AcceptedTimestamp), nameof(Event.ExpiresAt), nameof(Event.Encodings), nameof(Event.IsIdsOnly)]; // the last is a copy's for providers, and was never taken in
        foreach (var member in typeof(Event).GetProperties(BindingFlags.Public | BindingFlags.Instance).Where(p => p.CanWrite && !moved.Contains(p.Name)))
        {
            var value = member.GetValue(before);
            Assert.True(value is not null and not false, $"{member.Name} was not set, so it proves nothing");
            Assert.Equal(value, member.GetValue(after));
        }
    }
}
