using Pnh.LoadTest.Overload;

namespace Pnh.Api.Tests.Bench;

public sealed class BenchEventBookTests
{
    private const int User = 7;
    private readonly EventBook _book = new(devices: 1);

    [Fact]
    public void Faults_TakenAndArrivedInEitherOrder_AreNone()
    {
        Arrive(Taken());
        var early = Sent();
        Arrive(early);
        _book.Answer(early, 202);

        Assert.True(_book.Faults.IsClean);
    }

    [Fact]
    public void Faults_OneLostAndOneTwice_DoNotMakeUpForEachOther()
    {
        _ = Taken();
        var twice = Taken();
        Arrive(twice);
        Arrive(twice);

        Assert.Equal((1, 1), (_book.Faults.Lost[Mix.Call], _book.Faults.Duplicate[Mix.Call]));
        Assert.False(_book.Faults.IsClean);
    }

    [Fact]
    public void Faults_OneOfTwoDevicesMissing_IsLost()
    {
        var book = new EventBook(devices: 2);
        var number = book.Add(Mix.Bulk, User);
        book.Answer(number, 202);
        book.Arrive(number, Mix.Bulk, User, device: 1, mayRepeat: false);

        Assert.Equal(1, book.Faults.Lost[Mix.Bulk]);
    }

    [Fact]
    public void Faults_AtAnotherUser_IsMisroutedAndLost()
    {
        _book.Arrive(Taken(), Mix.Call, User + 1, 0, mayRepeat: false);

        Assert.Equal((1, 1), (_book.Faults.Misrouted[Mix.Call], _book.Faults.Lost[Mix.Call]));
    }

    [Fact]
    public void Faults_WhatNobodySent_IsMisrouted()
    {
        Arrive(1);

        Assert.Equal(1, _book.Faults.Misrouted[Mix.Call]);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Faults_RefusedAndArrived_IsUnwanted(bool arrivesFirst)
    {
        var number = Sent();
        if (arrivesFirst)
        {
            Arrive(number);
        }

        _book.Answer(number, 503);
        if (!arrivesFirst)
        {
            Arrive(number);
        }

        Assert.Equal(1, _book.Faults.Unwanted[Mix.Call]);
    }

    [Fact]
    public void Faults_ConnectionBroke_IsNeitherLostNorUnwanted()
    {
        var (arrives, doesNot) = (Sent(), Sent());
        _book.Answer(arrives, 0);
        _book.Answer(doesNot, 0);
        Arrive(arrives);

        Assert.Equal((2, 0, 0), (_book.Faults.Broken[Mix.Call], _book.Faults.Lost[Mix.Call], _book.Faults.Unwanted[Mix.Call]));
    }

    [Fact]
    public void Faults_AgainAfterItsSessionWasLost_IsNoDuplicate()
    {
        var number = Taken();
        Arrive(number);
        _book.Arrive(number, Mix.Call, User, 0, mayRepeat: true);

        Assert.True(_book.Faults.IsClean);
    }

    [Fact]
    public void Begin_EventOfThePhaseBefore_IsADuplicateOnlyWhenItCame()
    {
        var (late, twice) = (Taken(), Taken());
        Arrive(twice);
        Assert.Equal(1, _book.Begin().Lost[Mix.Call]);

        Arrive(late);
        Arrive(twice);

        Assert.Equal((0, 1), (_book.Faults.Lost[Mix.Call], _book.Faults.Duplicate[Mix.Call]));
    }

    [Fact]
    public void Begin_ManyPhases_ForgetsTheOldestAlone()
    {
        var first = Taken();
        for (var phase = 0; phase < 3; phase++)
        {
            for (var i = 0; i < 100_000; i++)
            {
                Arrive(Taken());
            }

            _book.Begin();
        }

        Arrive(first);

        Assert.True(_book.Faults.IsClean);
    }

    private long Sent() => _book.Add(Mix.Call, User);

    private long Taken()
    {
        var number = Sent();
        _book.Answer(number, 202);
        return number;
    }

    private void Arrive(long number) => _book.Arrive(number, Mix.Call, User, 0, mayRepeat: false);
}
