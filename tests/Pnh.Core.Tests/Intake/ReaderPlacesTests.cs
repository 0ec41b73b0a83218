using Microsoft.Extensions.Time.Testing;
using Pnh.Core.Intake;

namespace Pnh.Core.Tests.Intake;

public sealed class ReaderPlacesTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);
    private readonly FakeTimeProvider _time = new();
    private readonly ReaderPlaces _places;

    public ReaderPlacesTests() => _places = new ReaderPlaces(_time);

    [Fact]
    public async Task Enter_AnAppHasItsTwo_WaitsAndAnotherAppDoesNot()
    {
        Assert.True(await Now(Enter("a")));
        Assert.True(await Now(Enter("a")));
        var third = Enter("a");
        Assert.True(await Now(Enter("b")));
        Assert.False(third.IsCompleted);

        _places.Leave("a");
        Assert.True(await third.WaitAsync(Patience));
    }

    [Fact]
    public async Task Enter_AllAreTaken_AppsTakeTurns()
    {
        foreach (var app in new[] { "a", "a", "b", "b" })
        {
            Assert.True(await Now(Enter(app)));
        }

        // Many of one app came before one of another.
        var many = Enumerable.Range(0, 64).Select(_ => Enter("a")).ToList();
        var other = Enter("c");
        _places.Leave("a");
        Assert.True(await many[0].WaitAsync(Patience));
        Assert.False(other.IsCompleted);
        _places.Leave("a");
        Assert.True(await other.WaitAsync(Patience));
        Assert.All(many[1..], static waiting => Assert.False(waiting.IsCompleted));
    }

    [Fact]
    public async Task Enter_NoTurnWithinASecond_SaysSoAndItsPlaceGoesToTheNext()
    {
        Assert.True(await Now(Enter("a")));
        Assert.True(await Now(Enter("a")));
        var early = Enter("a");
        _time.Advance(ReaderPlaces.Patience / 2);
        var later = Enter("a");
        _time.Advance(ReaderPlaces.Patience / 2);
        Assert.False(await early.WaitAsync(Patience));
        Assert.False(later.IsCompleted);

        _places.Leave("a");
        Assert.True(await later.WaitAsync(Patience));
    }

    [Fact]
    public async Task Enter_ItsCallerGoes_WaitsNoMore()
    {
        using var gone = new CancellationTokenSource();
        Assert.True(await Now(Enter("a")));
        Assert.True(await Now(Enter("a")));
        var waiting = _places.EnterAsync("a", gone.Token).AsTask();
        var next = Enter("a");
        await gone.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => waiting.WaitAsync(Patience));

        _places.Leave("a");
        Assert.True(await next.WaitAsync(Patience));
    }

    [Fact]
    public async Task Read_Fails_GivesItsPlaceBack()
    {
        for (var i = 0; i < 2 * ReaderPlaces.OfApp; i++)
        {
            await Assert.ThrowsAsync<IOException>(() => _places.ReadAsync<int>("a", static _ => throw new IOException(), default).AsTask());
        }

        Assert.Equal((true, 7), await _places.ReadAsync("a", static _ => ValueTask.FromResult(7), default).AsTask().WaitAsync(Patience));
    }

    private static Task<T> Now<T>(Task<T> done)
    {
        Assert.True(done.IsCompleted);
        return done;
    }

    private Task<bool> Enter(string app) => _places.EnterAsync(app, default).AsTask();
}
