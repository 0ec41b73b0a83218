using System.Net;
using Microsoft.Extensions.Logging;
using Pnh.Channels.Net.Epoll;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Sockets;

/// <summary>Who gets a place when all are taken.</summary>
public sealed class ConnectionBudgetTests
{
    private readonly FakeTimeProvider _time = new();
    private readonly Lines _log = new();

    [Fact]
    public void TryEnter_AllIdleWithoutCredential_TheOldestMakesRoom()
    {
        var budget = Budget(capacity: 3);
        var places = Enter(budget, 3);
        Assert.True(budget.TryEnter(9, 0));
        Assert.Equal([true, false, false], places.Select(static place => place.WasAsked));
        Assert.Equal(1, budget.Evicted);
        places[0].LeaveBudget();
        places[0].LeaveBudget();
        Assert.Equal(3, budget.Count);
    }

    [Fact]
    public void TryEnter_SomeHaveACredential_TheyGoLast()
    {
        var budget = Budget(capacity: 3);
        var places = Enter(budget, 3);
        places[0].IsKnown = true;
        places[1].Answer = GiveUp.Busy;
        Assert.True(budget.TryEnter(9, 0));
        Assert.Equal([false, false, true], places.Select(static place => place.WasAsked));
        places[2].LeaveBudget();
        _ = new Place(budget, 0) { Answer = GiveUp.Busy };
        Assert.True(budget.TryEnter(9, 0));
        Assert.True(places[0].WasAsked);
    }

    [Fact]
    public void TryEnter_RequestsAndSessionsOnly_IsRefusedAndNobodyCloses()
    {
        var budget = Budget(capacity: 3);
        var places = Enter(budget, 3);
        places[0].Answer = GiveUp.Busy;
        places[1].Answer = GiveUp.Settled;
        places[2].Answer = GiveUp.Settled;
        Assert.False(budget.TryEnter(9, 0));
        Assert.Equal(1, budget.RefusedFull);
        Assert.Equal(0, budget.Evicted);
        places[1].LeaveBudget();
        Assert.True(budget.TryEnter(9, 0));
    }

    [Fact]
    public void TryEnter_BehindThousandsOfSessions_FindsTheOneThatIsIdle()
    {
        var budget = Budget(capacity: 5_000);
        var places = Enter(budget, 5_000);
        foreach (var place in places[..^1])
        {
            place.Answer = GiveUp.Settled;
        }

        Assert.True(budget.TryEnter(9, 0));
        Assert.True(places[^1].WasAsked);
    }

    [Fact]
    public void TryEnter_ThoseAskedHaveNotLeft_TheNumberStaysBounded()
    {
        var budget = Budget(capacity: 64);
        _ = Enter(budget, 64);
        var entered = 0;
        while (entered < 1_000 && budget.TryEnter(9, 0))
        {
            _ = new Place(budget, 0);
            entered++;
        }

        Assert.Equal(8, entered); // an eighth of 64
    }

    [Fact]
    public void Stay_ARequestCameBefore_ThePlaceIsKeptAndAnotherMakesRoom()
    {
        var budget = Budget(capacity: 8);
        var places = Enter(budget, 8);
        Assert.True(budget.TryEnter(9, 0));
        _ = new Place(budget, 0) { Answer = GiveUp.Busy };
        places[0].Answer = GiveUp.Busy;
        places[0].Stay();
        Assert.False(budget.TryEnter(9, 0));
        Assert.True(places[1].WasAsked);
        places[1].LeaveBudget();
        Assert.True(budget.TryEnter(9, 0));
        Assert.True(places[2].WasAsked);
        Assert.Equal(9, budget.Count);
    }

    [Fact]
    public void Stay_AgainAndAgain_TheNumberStaysBounded()
    {
        var budget = Budget(capacity: 8);
        var places = Enter(budget, 8).ToList();
        for (var i = 0; i < 100; i++)
        {
            if (budget.TryEnter(9, 0))
            {
                places.Add(new Place(budget, 0));
            }

            places.Find(static place => place.State == PlaceState.Going)?.Stay();
            Assert.InRange(budget.Count, 8, 9);
        }
    }

    [Fact]
    public void TryEnter_AddressHasItsShare_OthersStillEnter()
    {
        var budget = Budget(capacity: 100, perAddress: 2);
        var one = PeerAddress.KeyOf(IPAddress.Parse("198.51.100.7"));
        var mapped = PeerAddress.KeyOf(IPAddress.Parse("::ffff:198.51.100.7"));
        Assert.True(budget.TryEnter(9, one));
        var place = new Place(budget, one);
        Assert.True(budget.TryEnter(9, mapped));
        Assert.False(budget.TryEnter(9, one));
        Assert.Equal(1, budget.RefusedAddress);
        Assert.True(budget.TryEnter(9, PeerAddress.KeyOf(IPAddress.Parse("198.51.100.8"))));
        place.LeaveBudget();
        Assert.True(budget.TryEnter(9, one));
    }

    [Theory]
    [InlineData("127.0.0.1", "0.0.0.0", true)]
    [InlineData("::1", "127.9.9.9", true)]
    [InlineData("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true)]
    [InlineData("2001:db8:1:2::1", "2001:db8:1:3::1", false)]
    [InlineData("198.51.100.7", "198.51.100.8", false)]
    public void KeyOf_TwoAddresses_AreOneWhereTheyAreOneNetworks(string one, string other, bool isOne)
    {
        var first = PeerAddress.KeyOf(IPAddress.Parse(one));
        Assert.Equal(IPAddress.IsLoopback(IPAddress.Parse(one)), first == 0);
        Assert.Equal(isOne, other == "0.0.0.0" || first == PeerAddress.KeyOf(IPAddress.Parse(other)));
    }

    [Fact]
    public void TryEnter_ADescriptorOfTheReserve_IsRefused()
    {
        var budget = new ConnectionBudget("public", 100, 0, highestDescriptor: 50, _time, _log);
        Assert.True(budget.TryEnter(50, 0));
        Assert.False(budget.TryEnter(51, 0));
        Assert.Equal(1, budget.RefusedDescriptors);
    }

    [Fact]
    public void TryEnter_AFlood_WritesALineASecond()
    {
        var budget = Budget(capacity: 1);
        Enter(budget, 1)[0].Answer = GiveUp.Busy;
        for (var second = 0; second < 3; second++)
        {
            for (var i = 0; i < 1_000; i++)
            {
                Assert.False(budget.TryEnter(9, 0));
            }

            _time.Advance(TimeSpan.FromSeconds(1));
        }

        Assert.Equal(3, _log.Count);
    }

    private ConnectionBudget Budget(int capacity, int perAddress = 0) => new("public", capacity, perAddress, int.MaxValue, _time, _log);

    private static Place[] Enter(ConnectionBudget budget, int count)
    {
        var places = new Place[count];
        for (var i = 0; i < count; i++)
        {
            Assert.True(budget.TryEnter(9, 0));
            places[i] = new Place(budget, 0);
        }

        return places;
    }

    private sealed class Place(ConnectionBudget budget, ulong address) : ConnectionPermit(budget, address)
    {
        public GiveUp Answer { get; set; } = GiveUp.Going;

        public bool IsKnown { get; set; }

        public bool WasAsked { get; private set; }

        public override GiveUp TryGiveUp(bool alsoKnown)
        {
            var answer = IsKnown && !alsoKnown ? GiveUp.Known : Answer;
            WasAsked |= answer == GiveUp.Going;
            return answer;
        }
    }

    private sealed class Lines : ILogger
    {
        public int Count { get; private set; }

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) => Count++;
    }
}
