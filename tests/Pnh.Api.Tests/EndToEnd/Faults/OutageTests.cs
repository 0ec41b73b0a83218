using Pnh.Sandbox.Scripts;
using Pnh.TestKit;

namespace Pnh.Api.Tests.EndToEnd.Faults;

/// <summary>A provider that answers 503 to everything for ten minutes while events keep coming, through the whole hub. A class for each, so that they run beside each other.</summary>
public abstract class OutageTests(TemporaryFolder folder, string channel, string transport) : IClassFixture<TemporaryFolder>
{
    private const int Events = 300;

    /// <summary>
    /// What a provider in trouble may be asked: once for each delivery, and 10 % more for retries within an attempt. The hub's own schedule (30 tries of
    /// each delivery in ten minutes) has to fit into that: most of them meet the open breaker, which asks once in 5 s.
    /// </summary>
    private const int Budget = Events * 11 / 10;

    private static readonly TimeSpan Every = TimeSpan.FromMinutes(10) / Events;

    [Fact]
    public async Task Unavailable_ForTenMinutes_AttemptsWithinTheBudgetAndAllAcceptedAMinuteAfterItHealed()
    {
        await using var scene = await FaultScene.StartAsync(folder, transport);
        scene.Listen();
        scene.Register(Phone(channel, Events));
        scene.Post(Phone(channel, Events));
        await TestHub.EventuallyAsync(() => Settled(scene, "accepted"), static settled => settled == 1);

        // The request after the budget would be taken, and seen.
        scene.Sandbox.Scripts.Set(SandboxScripts.Everyone, new Script(ScriptKind.Unavailable) { Times = Budget });
        for (var i = 0; i < Events; i++)
        {
            scene.Register(Phone(channel, i));
            scene.Post(Phone(channel, i));
            await scene.StepAsync(Every);
        }

        Assert.Equal(1, Settled(scene, ""));
        Assert.Equal(Events, scene.Metric("pnh_ledger_in_flight{app=\"demo\",class=\"message\"}"));
        Assert.True(scene.Sandbox.Scripts.Remove(SandboxScripts.Everyone), "the budget was used up");

        // A minute of the hub's clock, which stands from then on: what was not sent by then is never sent.
        await scene.StepAsync(TimeSpan.FromMinutes(1));
        await TestHub.EventuallyAsync(() => Settled(scene, "accepted"), static settled => settled == Events + 1);
        Assert.Equal(Events + 1, scene.Metric("pnh_ledger_planned_total{app=\"demo\",class=\"message\"}"));
        Assert.Equal(Events + 1, Settled(scene, ""));
        Assert.Equal(0, scene.Metric("pnh_ledger_in_flight{app=\"demo\",class=\"message\"}"));
        for (var i = 0; i <= Events; i++)
        {
            Assert.Equal(1, scene.Sandbox.Phones.Find(FaultScene.Address(Phone(channel, i)))?.Received);
        }
    }

    /// <summary>Even ones are iPhones.</summary>
    private static int Phone(string channel, int number) => (2 * number) + (channel == "apns" ? 0 : 1);

    private static double Settled(FaultScene scene, string state) =>
        scene.Metric($"pnh_ledger_settled_total{{app=\"demo\",class=\"message\",state=\"{state}");
}

/// <summary>APNs, over the framework's transport.</summary>
public sealed class ApnsOutageTests(TemporaryFolder folder) : OutageTests(folder, "apns", "Framework");

/// <summary>APNs, over the hub's own.</summary>
public sealed class DirectApnsOutageTests(TemporaryFolder folder) : OutageTests(folder, "apns", "Direct");

/// <summary>FCM, over the framework's transport.</summary>
public sealed class FcmOutageTests(TemporaryFolder folder) : OutageTests(folder, "fcm", "Framework");
