using Pnh.Core.Events;
using Pnh.Core.Intake;

namespace Pnh.Core.Tests.Intake;

public sealed class UploadLineTests : IDisposable
{
    private const int Part = UploadLine.RoomOfApp;
    private const int Rest = UploadLine.Room - Part;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);
    private readonly CancellationTokenSource _stopping = new();
    private readonly UploadLine _line;

    public UploadLineTests() => _line = new UploadLine(_stopping.Token);

    private int Inside => EventClassNames.All.ToArray().Sum(_line.Inside);

    public void Dispose() => _stopping.Dispose();

    [Fact]
    public async Task Enter_AnAppHasItsPart_WaitsAndOthersDoNot()
    {
        var first = await Now(Enter("a", Part));
        var waiting = Enter("a", 1);
        await Now(Enter("b", Rest));
        var full = Enter("c", 1);
        Assert.False(waiting.IsCompleted || full.IsCompleted);
        Assert.Equal(UploadLine.Room, Inside);

        _line.Leave(first);
        await Task.WhenAll(waiting, full).WaitAsync(Patience);
        Assert.Equal(Rest + 2, Inside);
    }

    [Fact]
    public async Task Enter_OneWaits_ThoseAfterItOfItsAppDoToo()
    {
        var inside = await Now(Enter("a", Part - 2));
        var large = Enter("a", Part);
        var small = Enter("a", 1);
        Assert.False(small.IsCompleted);
        _line.Leave(inside);
        _line.Leave((await large.WaitAsync(Patience))!);
        Assert.NotNull(await small.WaitAsync(Patience));
    }

    [Fact]
    public async Task Enter_MoreThanAnAppEverHas_GoesInAlone()
    {
        var inside = await Now(Enter("a", 1));
        var huge = Enter("a", UploadLine.Room * 2);
        Assert.False(huge.IsCompleted);
        _line.Leave(inside);
        _line.Leave((await huge.WaitAsync(Patience))!);
        Assert.Equal(0, Inside);
    }

    [Fact]
    public async Task Enter_OfSeveralClasses_CountsEach()
    {
        var mixed = await Now(_line.EnterAsync([NewEvent("a", EventClass.Bulk), NewEvent("a", EventClass.Call), NewEvent("a", EventClass.Bulk)], default).AsTask());
        Assert.Equal((2, 1, 0), (_line.Inside(EventClass.Bulk), _line.Inside(EventClass.Call), _line.Inside(EventClass.Message)));
        _line.Leave(mixed);
        Assert.Equal(0, Inside);
    }

    [Fact]
    public async Task Enter_SmallOnesOfOthersKeepComing_ALargeOneGoesBeforeThem()
    {
        var inside = new Queue<UploadLine.Batch>();
        for (var n = 0; n < 32; n++)
        {
            inside.Enqueue(await Now(Enter(n % 4 == 0 ? "c" : "b", 32)));
        }

        var large = Enter("a", 256);
        var small = Enumerable.Range(0, 16).Select(n => Enter(n % 2 == 0 ? "b" : "c", 32)).ToList();
        for (var n = 0; n < 8; n++)
        {
            Assert.False(large.IsCompleted);
            _line.Leave(inside.Dequeue());
        }

        Assert.NotNull(await large.WaitAsync(Patience));
        Assert.DoesNotContain(small, static entering => entering.IsCompleted);
        _line.Leave(inside.Dequeue());
        Assert.NotNull(await small[0].WaitAsync(Patience));
    }

    [Fact]
    public async Task Enter_OneGivesUp_TheNextNeedsNotWaitForIt()
    {
        using var gone = new CancellationTokenSource();
        await Now(Enter("a", Part - 2));
        var large = Enter("a", Part, gone.Token);
        var small = Enter("a", 2);
        Assert.False(small.IsCompleted);
        await gone.CancelAsync();
        Assert.NotNull(await small.WaitAsync(Patience));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => large.WaitAsync(Patience));
        Assert.Equal(Part, Inside);
    }

    [Fact]
    public async Task Enter_HubStops_HasNone()
    {
        await Now(Enter("a", Part));
        var waiting = Enter("a", 1);
        await _stopping.CancelAsync();
        Assert.Null(await waiting.WaitAsync(Patience));
        Assert.Equal(Part, Inside);
    }

    [Fact]
    public async Task Enter_ManyComeGoAndGiveUp_NobodyIsForgotten()
    {
        await Task.WhenAll(Enumerable.Range(0, 8).Select(i => Task.Run(() => LiveAsync(new Random(i))))).WaitAsync(Patience);
        Assert.Equal(0, Inside);
    }

    private async Task LiveAsync(Random random)
    {
        for (var i = 0; i < 300; i++)
        {
            using var gone = new CancellationTokenSource();
            var entering = Enter($"app-{random.Next(2)}", random.Next(1, Part), gone.Token);
            if (random.Next(4) == 0)
            {
                await gone.CancelAsync();
            }

            try
            {
                var batch = await entering;
                Assert.InRange(Inside, 0, UploadLine.Room);
                await Task.Yield();
                _line.Leave(batch!);
            }
            catch (OperationCanceledException)
            {
                Assert.True(gone.IsCancellationRequested);
            }
        }
    }

    private static async Task<UploadLine.Batch> Now(Task<UploadLine.Batch?> entering)
    {
        Assert.True(entering.IsCompleted);
        return (await entering)!;
    }

    private Task<UploadLine.Batch?> Enter(string app, int count, CancellationToken cancellationToken = default) =>
        _line.EnterAsync([.. Enumerable.Repeat(NewEvent(app, EventClass.Bulk), count)], cancellationToken).AsTask();

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
