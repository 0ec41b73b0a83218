using Pnh.Core.Events;
using Pnh.Core.Intake;

namespace Pnh.Core.Tests.Intake;

/// <summary>Bounds of 8 a class: 6 for an app.</summary>
public sealed class UploadPlacesTests : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);
    private readonly CancellationTokenSource _stopping = new();
    private readonly UploadPlaces _places;

    public UploadPlacesTests() => _places = new UploadPlaces([8, 8, 8, 8], _stopping.Token);

    public void Dispose() => _stopping.Dispose();

    [Fact]
    public async Task Enter_AnAppHasItsShare_WaitsAndOthersDoNot()
    {
        var first = await Now(Enter("a", EventClass.Bulk, 6));
        var waiting = Enter("a", EventClass.Bulk, 1);
        await Now(Enter("a", EventClass.Message, 6));
        await Now(Enter("b", EventClass.Bulk, 2));
        var full = Enter("c", EventClass.Bulk, 1);
        Assert.False(waiting.IsCompleted || full.IsCompleted);
        Assert.Equal(8, _places.Inside(EventClass.Bulk));

        _places.Leave(first);
        await Task.WhenAll(waiting, full).WaitAsync(Patience);
        Assert.Equal(4, _places.Inside(EventClass.Bulk));
    }

    [Fact]
    public async Task Enter_OneWaits_ThoseAfterItOfItsAppAndClassDoToo()
    {
        var inside = await Now(Enter("a", EventClass.Bulk, 4));
        var large = Enter("a", EventClass.Bulk, 6);
        var small = Enter("a", EventClass.Bulk, 1);
        Assert.False(small.IsCompleted);
        _places.Leave(inside);
        _places.Leave((await large.WaitAsync(Patience))!);
        Assert.NotNull(await small.WaitAsync(Patience));
    }

    [Fact]
    public async Task Enter_OfSeveralClasses_TakesAllOrNone()
    {
        var inside = await Now(Enter("a", EventClass.Bulk, 6));
        var mixed = _places.EnterAsync([NewEvent("a", EventClass.Bulk), NewEvent("a", EventClass.Call)], CancellationToken.None).AsTask();
        Assert.Equal(0, _places.Inside(EventClass.Call));
        _places.Leave(inside);
        _places.Leave((await mixed.WaitAsync(Patience))!);
        Assert.Equal(0, _places.Inside(EventClass.Bulk) + _places.Inside(EventClass.Call));
    }

    [Fact]
    public async Task Enter_SmallOnesOfOthersKeepComing_ALargeOneGoesBeforeThem()
    {
        var places = new UploadPlaces([1_024, 1_024, 1_024, 1_024], _stopping.Token);
        var inside = new Queue<UploadPlaces.Batch>();
        for (var n = 0; n < 32; n++)
        {
            inside.Enqueue(await Now(Enter(places, n % 4 == 0 ? "c" : "b", EventClass.Bulk, 32)));
        }

        var large = Enter(places, "a", EventClass.Bulk, 256);
        var small = Enumerable.Range(0, 16).Select(n => Enter(places, n % 2 == 0 ? "b" : "c", EventClass.Bulk, 32)).ToList();
        for (var n = 0; n < 8; n++)
        {
            Assert.False(large.IsCompleted);
            places.Leave(inside.Dequeue());
        }

        Assert.NotNull(await large.WaitAsync(Patience));
        Assert.DoesNotContain(small, static entering => entering.IsCompleted);
        places.Leave(inside.Dequeue());
        Assert.NotNull(await small[0].WaitAsync(Patience));
    }

    [Fact]
    public async Task Enter_OneFindsAClassFull_OthersPassItInTheOtherClassesOnly()
    {
        await Now(Enter("b", EventClass.Bulk, 6));
        var large = Enter("a", EventClass.Bulk, 4);
        await Now(Enter("c", EventClass.Message, 2));
        var passing = Enter("c", EventClass.Bulk, 1);
        Assert.False(large.IsCompleted || passing.IsCompleted);
    }

    [Fact]
    public async Task Enter_TwoClassesAreFullInTurns_TheOneThatNeedsBothIsNotPassedInTheFirst()
    {
        var first = await Now(Enter("b", EventClass.Bulk, 6));
        var mixed = _places.EnterAsync(
            [.. Enumerable.Range(0, 8).Select(static n => NewEvent("a", n < 4 ? EventClass.Bulk : EventClass.Message))], CancellationToken.None).AsTask();
        var second = await Now(Enter("b", EventClass.Message, 6));
        _places.Leave(first);
        var passing = Enter("c", EventClass.Bulk, 5);
        Assert.False(mixed.IsCompleted || passing.IsCompleted);

        _places.Leave(second);
        _places.Leave((await mixed.WaitAsync(Patience))!);
        Assert.NotNull(await passing.WaitAsync(Patience));
    }

    [Fact]
    public async Task Enter_OneGivesUp_TheNextNeedsNotWaitForIt()
    {
        using var gone = new CancellationTokenSource();
        await Now(Enter("a", EventClass.Bulk, 4));
        var large = Enter("a", EventClass.Bulk, 6, gone.Token);
        var small = Enter("a", EventClass.Bulk, 2);
        Assert.False(small.IsCompleted);
        await gone.CancelAsync();
        Assert.NotNull(await small.WaitAsync(Patience));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => large.WaitAsync(Patience));
        Assert.Equal(6, _places.Inside(EventClass.Bulk));
    }

    [Fact]
    public async Task Enter_HubStops_HasNone()
    {
        await Now(Enter("a", EventClass.Bulk, 6));
        var waiting = Enter("a", EventClass.Bulk, 1);
        await _stopping.CancelAsync();
        Assert.Null(await waiting.WaitAsync(Patience));
        Assert.Equal(6, _places.Inside(EventClass.Bulk));
    }

    [Fact]
    public async Task Enter_ManyComeGoAndGiveUp_NobodyIsForgotten()
    {
        await Task.WhenAll(Enumerable.Range(0, 8).Select(i => Task.Run(() => LiveAsync(new Random(i))))).WaitAsync(Patience);
        foreach (var @class in EventClassNames.All.ToArray())
        {
            Assert.Equal(0, _places.Inside(@class));
        }
    }

    private async Task LiveAsync(Random random)
    {
        for (var i = 0; i < 500; i++)
        {
            using var gone = new CancellationTokenSource();
            var entering = Enter($"app-{random.Next(2)}", (EventClass)random.Next(2), random.Next(1, 10), gone.Token);
            if (random.Next(4) == 0)
            {
                await gone.CancelAsync();
            }

            try
            {
                var batch = await entering;
                Assert.InRange(_places.Inside(EventClass.Call), 0, 8);
                await Task.Yield();
                _places.Leave(batch!);
            }
            catch (OperationCanceledException)
            {
                Assert.True(gone.IsCancellationRequested);
            }
        }
    }

    private static async Task<UploadPlaces.Batch> Now(Task<UploadPlaces.Batch?> entering)
    {
        Assert.True(entering.IsCompleted);
        return (await entering)!;
    }

    private Task<UploadPlaces.Batch?> Enter(string app, EventClass @class, int count, CancellationToken cancellationToken = default) =>
        Enter(_places, app, @class, count, cancellationToken);

    private static Task<UploadPlaces.Batch?> Enter(
        UploadPlaces places, string app, EventClass @class, int count, CancellationToken cancellationToken = default) =>
        places.EnterAsync([.. Enumerable.Repeat(NewEvent(app, @class), count)], cancellationToken).AsTask();

    private static Event NewEvent(string app, EventClass @class) => new()
    {
        App = app,
        Id = "e",
        To = EventTarget.ToUser("ada"),
        Class = @class,
        AcceptedAt = default,
        ExpiresAt = default,
    };
}
