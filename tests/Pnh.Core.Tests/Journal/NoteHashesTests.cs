using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Storage.Segments;
using Pnh.Storage.Segments.Format;
using Pnh.Storage.Segments.Index;

namespace Pnh.Core.Tests.Journal;

public sealed class NoteHashesTests
{
    private readonly EventIndex _index = new();

    [Fact]
    public void Of_EventsInAnyOrderOverManyBlocks_IsTheHashOfEach()
    {
        var random = new Random(7);
        var ids = Enumerable.Range(0, 10).Select(static number => $"event-{number}").ToArray();
        var batch = Enumerable.Range(0, 500).Select(_ => NoteOf(random.Next(2) == 0 ? "one" : "two", ids[random.Next(ids.Length)])).ToArray();

        AssertHashes(batch);
    }

    [Fact]
    public void Of_RunsOfOneEvent_IsItsHashToTheEndOfTheRun()
    {
        var batch = Enumerable.Range(0, 4).SelectMany(static run => Enumerable.Repeat(NoteOf("app", $"event-{run}"), 37)).ToArray();

        AssertHashes(batch);
    }

    [Fact]
    public void Of_PlacesAreLeftOut_IsTheHashOfThoseThatAreAskedFor()
    {
        var batch = Enumerable.Range(0, 200).Select(static number => NoteOf("app", $"event-{number}")).ToArray();
        var hashes = new NoteHashes(_index);
        hashes.Begin();
        foreach (var at in (int[])[0, 1, 40, 41, 199])
        {
            Assert.Equal(_index.Hash.Of("app", $"event-{at}"), hashes.Of(batch, at));
        }
    }

    [Fact]
    public void Of_NoteOfAnAddressBetween_LeavesTheOthersAsTheyAre()
    {
        Note[] batch = [NoteOf("app", "a"), new(RecordKind.Address, new Milestone("app", "", default, default, default)), NoteOf("app", "b")];
        var hashes = new NoteHashes(_index);
        hashes.Begin();

        Assert.Equal(_index.Hash.Of("app", "a"), hashes.Of(batch, 0));
        Assert.Equal(_index.Hash.Of("app", "b"), hashes.Of(batch, 2));
    }

    [Fact]
    public void Begin_AnotherBatch_ForgetsTheOneBefore()
    {
        var hashes = new NoteHashes(_index);
        hashes.Begin();
        hashes.Of([NoteOf("app", "a"), NoteOf("app", "b")], 0);
        hashes.Begin();

        Assert.Equal(_index.Hash.Of("app", "c"), hashes.Of([NoteOf("app", "c")], 0));
    }

    private static Note NoteOf(string app, string id) => new(RecordKind.Milestone, new Milestone(app, id, EventClass.Message, MilestoneKind.Framed, default));

    private void AssertHashes(Note[] batch)
    {
        var hashes = new NoteHashes(_index);
        hashes.Begin();
        for (var at = 0; at < batch.Length; at++)
        {
            Assert.Equal(_index.Hash.Of(batch[at].Milestone.App, batch[at].Milestone.Event), hashes.Of(batch, at));
        }
    }
}
