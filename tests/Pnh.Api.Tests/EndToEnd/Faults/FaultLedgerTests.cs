using Pnh.Sandbox.Scripts;
using Pnh.TestKit;

namespace Pnh.Api.Tests.EndToEnd.Faults;

/// <summary>
/// Every way in which a provider fails, through the whole hub: events accepted while it does, and once it is over the ledger of planned deliveries is exact, nothing
/// is in flight, each phone was reached, and no more often than answers were lost.
/// </summary>
public sealed class FaultLedgerTests(TemporaryFolder folder) : IClassFixture<TemporaryFolder>
{
    private const int Phones = 20;

    /// <summary>What begins, what ends it, and the series that shows that it was felt.</summary>
    private static readonly Dictionary<string, Fault> Faults = new()
    {
        ["provider-dead"] = new(static _ => { }, static scene => scene.Listen(), "pnh_provider_dials_total{channel=\"apns\",result=\"failed\"}") { FromTheStart = true },
        ["black-hole"] = Wire(WireFault.Silent, Unavailable) with { LosesAnswers = true },
        ["byte-per-second"] = Wire(WireFault.Trickle, Unavailable) with { LosesAnswers = true },
        ["reset-in-a-record"] = Wire(WireFault.Cut, Lost) with { LosesAnswers = true },
        ["goaway-storm"] = Script(new Script(ScriptKind.GoAway) { Times = 15 }, "pnh_provider_connection_ends_total{channel=\"apns\",cause=\"goaway\"}"),
        // No number shows this one: a window that fell only makes requests wait.
        ["settings-fall-and-rise"] = new(FallAndRise, static scene => Everybody(scene, null), Accepted),
        ["a-third-bad"] = new(static scene => OfThree(scene, new Script(ScriptKind.Bad)), static _ => { }, "pnh_ledger_settled_total{app=\"demo\",class=\"message\",state=\"failed\"}")
        {
            Dead = static phone => phone % 3 == 0,
        },
        ["all-503"] = Script(new Script(ScriptKind.Unavailable), Unavailable),
        ["token-endpoint-dead"] = new(
            static scene => { scene.Apns.Listen(); scene.Fcm.Listen(); }, static scene => scene.Tokens.Listen(), "pnh_deliveries_total{channel=\"fcm\",class=\"message\",status=\"unavailable\"}")
        {
            FromTheStart = true,
        },
        ["token-endpoint-silent"] = new(
            static scene => { scene.Tokens.Fault = WireFault.Silent; scene.Listen(); }, static scene => scene.Tokens.Fault = WireFault.None, "pnh_deliveries_total{channel=\"fcm\",class=\"message\",status=\"unavailable\"}")
        {
            FromTheStart = true,
        },
        ["garbage-in-key-files"] = new(Garbage, static _ => { }, "pnh_provider_credential_reloads_total{channel=\"apns\",result=\"refused\"}"),
        ["clock-an-hour-ahead"] = new(
            static scene => { scene.HubClock.Ahead = TimeSpan.FromHours(1); scene.Listen(); }, static scene => scene.HubClock.Ahead = TimeSpan.Zero, "pnh_provider_clock_skew_seconds{channel=\"apns\"}")
        {
            // A refused account is a configuration stop: what was sent meanwhile waits for somebody to act.
            FromTheStart = true,
        },
        ["html-410"] = Script(new Script(ScriptKind.Broken) { Status = 410 }, Unavailable),
        ["html-of-a-megabyte"] = Script(new Script(ScriptKind.Broken) { Status = 503, Size = 1_000_000 }, Unavailable),
    };

    private const string Unavailable = "pnh_deliveries_total{channel=\"apns\",class=\"message\",status=\"unavailable\"}";
    private const string Accepted = "pnh_deliveries_total{channel=\"apns\",class=\"message\",status=\"accepted\"}";
    private const string Lost = "pnh_provider_connection_ends_total{channel=\"apns\",cause=\"lost\"}";

    public static TheoryData<string, string> Cases()
    {
        var cases = new TheoryData<string, string>();
        foreach (var fault in Faults.Keys)
        {
            cases.Add(fault, "Framework");
        }

        // What the connection itself must bear; the others look alike from above it.
        foreach (var fault in new[] { "provider-dead", "black-hole", "byte-per-second", "reset-in-a-record", "goaway-storm", "settings-fall-and-rise", "html-of-a-megabyte" })
        {
            cases.Add(fault, "Direct");
        }

        return cases;
    }

    [Theory]
    [MemberData(nameof(Cases))]
    public async Task Fault_ThenHealed_LedgerExactAndNothingLost(string name, string transport)
    {
        var fault = Faults[name];
        await using var scene = await FaultScene.StartAsync(folder, transport);
        var dead = Enumerable.Range(0, Phones).Count(fault.Dead);
        for (var phone = 0; phone < Phones + 2; phone++)
        {
            scene.Register(phone);
        }

        var warm = fault.FromTheStart ? 0 : 2;
        if (!fault.FromTheStart)
        {
            // Connections are open and proven when the fault begins.
            scene.Listen();
            scene.Post(Phones);
            scene.Post(Phones + 1);
            await TestHub.EventuallyAsync(() => Settled(scene, "accepted"), static settled => settled == 2);
        }

        fault.Begin(scene);
        for (var phone = 0; phone < Phones; phone++)
        {
            scene.Post(phone);
        }

        await scene.PassAsync(TimeSpan.FromSeconds(40), hangs: fault.LosesAnswers);
        Assert.NotEqual(0, scene.Metric(fault.Sign));
        fault.End(scene);
        await TestHub.EventuallyAsync(() => Settled(scene, ""), settled => settled == Phones + warm);

        // Both providers take what comes afterwards.
        scene.Register(Phones + 2);
        scene.Register(Phones + 3);
        scene.Post(Phones + 2);
        scene.Post(Phones + 3);
        await TestHub.EventuallyAsync(() => Settled(scene, ""), settled => settled == Phones + warm + 2);
        Assert.Equal(Phones + warm + 2, scene.Metric("pnh_ledger_planned_total{app=\"demo\",class=\"message\"}"));
        Assert.Equal(0, scene.Metric("pnh_ledger_in_flight{app=\"demo\",class=\"message\"}"));
        Assert.Equal(dead, Settled(scene, "failed"));
        Assert.Equal(Phones + warm + 2 - dead, Settled(scene, "accepted"));
        AssertPhones(scene, fault);
    }

    /// <summary>Each phone that is not dead shows its event, once more for each answer that was lost at most.</summary>
    private static void AssertPhones(FaultScene scene, Fault fault)
    {
        var copies = 0.0;
        for (var phone = 0; phone < Phones; phone++)
        {
            var shown = scene.Sandbox.Phones.Find(FaultScene.Address(phone));
            if (fault.Dead(phone))
            {
                Assert.Equal(0, shown?.Received ?? 0);
                continue;
            }

            Assert.NotNull(shown);
            Assert.All(shown.LockScreen, one => Assert.Equal($"event-{phone}", one.EventId));
            copies += shown.Received - 1;
        }

        var lost = scene.Metric(Unavailable) + scene.Metric(Unavailable.Replace("apns", "fcm", StringComparison.Ordinal));
        Assert.InRange(copies, 0, fault.LosesAnswers ? lost : 0);
    }

    private static double Settled(FaultScene scene, string state) =>
        scene.Metric($"pnh_ledger_settled_total{{app=\"demo\",class=\"message\",state=\"{state}");

    private static Fault Wire(WireFault fault, string sign) => new(scene => scene.Spoil(fault), static scene => scene.Spoil(WireFault.None), sign);

    private static Fault Script(Script script, string sign) => new(scene => Everybody(scene, script), static scene => Everybody(scene, null), sign);

    private static void Everybody(FaultScene scene, Script? script)
    {
        if (script is null)
        {
            scene.Sandbox.Scripts.Remove(SandboxScripts.Everyone);
        }
        else
        {
            scene.Sandbox.Scripts.Set(SandboxScripts.Everyone, script);
        }
    }

    private static void OfThree(FaultScene scene, Script script)
    {
        for (var phone = 0; phone < Phones; phone += 3)
        {
            scene.Sandbox.Scripts.Set(FaultScene.Address(phone), script);
        }
    }

    /// <summary>Down to one stream with each answer but every third; that one opens the window again.</summary>
    private static void FallAndRise(FaultScene scene)
    {
        Everybody(scene, new Script(ScriptKind.Grant) { Streams = 1 });
        OfThree(scene, new Script(ScriptKind.Grant) { Streams = 100 });
    }

    private static void Garbage(FaultScene scene)
    {
        File.WriteAllText(scene.KeyFile, "-----BEGIN PRIVATE KEY-----\nbm90IGEga2V5\n-----END PRIVATE KEY-----\n");
        File.WriteAllText(scene.AccountFile, "<html>not found</html>");
    }

    private sealed record Fault(Action<FaultScene> Begin, Action<FaultScene> End, string Sign)
    {
        /// <summary>No connection was ever good.</summary>
        public bool FromTheStart { get; init; }

        /// <summary>The phone may have what we think failed: at least once, then, instead of once.</summary>
        public bool LosesAnswers { get; init; }

        public Func<int, bool> Dead { get; init; } = static _ => false;
    }
}
