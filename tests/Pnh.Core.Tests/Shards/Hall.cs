using Pnh.Core.Journal;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Shards;

/// <summary>A topic of more members than two pages hold, and an event to it that stands still behind the first two until <see cref="Go"/>.</summary>
internal sealed class Hall
{
    /// <summary>Members of a page.</summary>
    public const int Page = 256;

    /// <summary>Members of the pages that are served before the journal has taken anything.</summary>
    public const int First = 2 * Page;

    public const int Members = 600;
    public const string ToHall = """{"topic":"hall"}""";
    private readonly TaskCompletionSource _gate = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public static string[] Names(int from, int to) => [.. Enumerable.Range(from, to - from).Select(static i => $"u{i:0000}")];

    /// <summary>Every member has a phone.</summary>
    public static void Fill(HubUnderTest hub)
    {
        hub.Store.PutTopic("hall", Names(0, Members));
        Array.ForEach(Names(0, Members), name => hub.Store.Put(name, hub.Phone("phone")));
    }

    /// <summary>Two pages are served when this ends, unless <paramref name="isServed"/> is false, and the journal has not said so yet.</summary>
    public async Task<string> SendAndStandAsync(HubUnderTest hub, string members = "", bool isServed = true)
    {
        hub.Journal.Flushing = () => _gate.Task;
        var id = await hub.SendAsync(members, ToHall).WaitAsync(TimeSpan.FromSeconds(20));
        if (isServed)
        {
            await Waiting.UntilAsync(() => hub.Journal.Milestones.Count(m => m.Kind == MilestoneKind.Reached) == 2, "the first two pages");
            await hub.RestAsync();
        }

        return id;
    }

    public void Go(HubUnderTest hub)
    {
        hub.Journal.Flushing = static () => Task.CompletedTask;
        _gate.TrySetResult();
    }

    public static async Task EndedAsync(HubUnderTest hub)
    {
        await Waiting.UntilAsync(() => hub.Hub.FanOuts == 0, "the fan-outs");
        await hub.RestAsync();
    }
}
