using System.Net;
using System.Text.Json.Nodes;
using Pnh.Api.Tests.EndToEnd;
using Pnh.Client;
using Pnh.Client.Events;
using Pnh.Client.Reports;

namespace Pnh.Api.Tests.ClientLibrary;

/// <summary>The client library of back-ends, against the real hub.</summary>
public sealed class PnhPublisherTests
{
    private static readonly PnhNotification Notification = new() { Title = "Shipped", Body = "Order 77 is on its way" };

    [Fact]
    public async Task Send_Event_SaysWhatWillAndWhatDidBecomeOfIt()
    {
        await using var hub = await TestHub.StartAsync();
        using var publisher = Publisher(hub);
        var message = new PnhEvent
        {
            Id = "order-77",
            To = PnhTarget.OfUser("ada"),
            Data = new JsonObject { ["order"] = 77 },
            Notification = Notification,
            Ttl = TimeSpan.FromHours(1),
            AckWithin = TimeSpan.FromSeconds(1.5),
        };

        var plan = await publisher.ExplainAsync(message);
        Assert.Equal(("message", true, "planned"), (plan.Class, plan.Durable, plan.Users.Single().Outcome));
        Assert.NotEmpty(plan.Users[0].Devices[0].Steps);

        Assert.Equal(new PnhReceipt("order-77", Durable: true), await publisher.SendAsync(message));
        Assert.Equal(new PnhReceipt("order-77", Durable: true, Duplicate: true), await publisher.SendAsync(message));
        var timeline = (await publisher.FindAsync("order-77"))!;
        Assert.Equal(TimeSpan.FromHours(1), timeline.ExpiresAt - timeline.AcceptedAt);
        Assert.All(timeline.Deliveries, static delivery => Assert.Equal("ada", delivery.User));
        Assert.True(await publisher.WithdrawAsync("order-77", reason: "cancelled"));
        Assert.Null(await publisher.FindAsync("order-78"));
        Assert.False(await publisher.WithdrawAsync("order-78"));
    }

    [Fact]
    public async Task Send_WrongMembers_ThrowsWithEachOfThem()
    {
        await using var hub = await TestHub.StartAsync();
        using var publisher = Publisher(hub);
        var refusal = await Assert.ThrowsAsync<PnhException>(() => publisher.SendAsync(new PnhEvent { To = PnhTarget.OfUser(""), Ttl = TimeSpan.FromDays(100) }));
        Assert.Equal((400, "invalid-body"), (refusal.Status, refusal.Code));
        Assert.Equal(["/to/user", "/ttl"], refusal.Errors.Select(static error => error.Pointer));
    }

    [Fact]
    public async Task Send_AnswerIsLost_IsTheSameEventAgain()
    {
        await using var hub = await TestHub.StartAsync();
        using var handler = new FaultyHandler { Lost = 2 };
        using var publisher = Publisher(hub, handler);
        var receipt = await publisher.SendAsync(new PnhEvent { To = PnhTarget.OfUser("ada") });
        Assert.True(receipt.Duplicate);
        Assert.Equal(3, handler.Requests);
        Assert.Equal(receipt.Id, (await publisher.FindAsync(receipt.Id))!.Id);
    }

    [Fact]
    public async Task Send_HubSaysNotNow_WaitsAndGivesUpInTime()
    {
        await using var hub = await TestHub.StartAsync();
        using var handler = new FaultyHandler { Overloaded = 2 };
        using var publisher = Publisher(hub, handler);
        Assert.True((await publisher.SendAsync(new PnhEvent { To = PnhTarget.OfUser("ada") })).Durable);
        Assert.Equal(3, handler.Requests);

        handler.Overloaded = int.MaxValue;
        using var hasty = new PnhPublisher(new PnhPublisherOptions { Address = hub.Host.PublicAddress, Key = hub.Key, Handler = handler, RetryFor = TimeSpan.FromSeconds(0.3) });
        var refusal = await Assert.ThrowsAsync<PnhException>(() => hasty.SendAsync(new PnhEvent { To = PnhTarget.OfUser("ada") }));
        Assert.Equal((503, "overloaded"), (refusal.Status, refusal.Code));
    }

    [Fact]
    public async Task Send_Many_AnswersEachInItsPlaceOverBreaks()
    {
        await using var hub = await TestHub.StartAsync();
        using var handler = new FaultyHandler { Lost = 1 };
        using var publisher = Publisher(hub, handler);
        var events = Enumerable.Range(0, 2_500).Select(static n => new PnhEvent { Id = $"many-{n}", To = PnhTarget.OfUser(n == 1_700 ? "" : "ada"), Class = PnhClass.Bulk, Data = n }).ToList();

        var answers = await publisher.SendAsync(events);
        Assert.Equal(2_500, answers.Count);
        Assert.Equal("/to/user", answers[1_700].Refusal!.Errors.Single().Pointer);
        Assert.All(answers.Index().Where(static one => one.Index != 1_700), static one => Assert.Equal($"many-{one.Index}", one.Item.Receipt!.Id));
        Assert.True(answers[0].Receipt!.Duplicate); // the first answer was lost
        Assert.False(answers[2_400].Receipt!.Duplicate);
    }

    [Fact]
    public async Task Follow_ConnectionBreaks_GoesOnAfterItsLastLine()
    {
        await using var hub = await TestHub.StartAsync();
        await using var wire = new CutWire(hub.Host.PublicAddress);
        using var publisher = new PnhPublisher(new PnhPublisherOptions { Address = new Uri($"http://127.0.0.1:{wire.Port}"), Key = hub.Key });
        using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(60));
        var sent = 0;
        var seen = new List<string>();
        await publisher.SendAsync(Next());
        await foreach (var entry in publisher.FollowAsync(cancellationToken: patience.Token))
        {
            if (entry.Type == "no-devices" && !seen.Contains(entry.Id!))
            {
                seen.Add(entry.Id!);
                if (sent == 10)
                {
                    break;
                }

                wire.Cut();
                await publisher.SendAsync(Next());
            }
        }

        Assert.Equal(Enumerable.Range(0, 10).Select(static n => $"feed-{n}"), seen);

        PnhEvent Next() => new() { Id = $"feed-{sent++}", To = PnhTarget.OfUser("nobody"), Notification = Notification };
    }

    private static PnhPublisher Publisher(TestHub hub, HttpMessageHandler? handler = null) => new(new PnhPublisherOptions { Address = hub.Host.PublicAddress, Key = hub.Key, Handler = handler });

    /// <summary>Loses answers, or says that the hub is overloaded.</summary>
    private sealed class FaultyHandler() : DelegatingHandler(new SocketsHttpHandler { UseProxy = false })
    {
        /// <summary>So many answers get lost.</summary>
        public int Lost { get; set; }

        /// <summary>So many requests are answered 503.</summary>
        public int Overloaded { get; set; }

        public int Requests { get; private set; }

        protected override async Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancellationToken)
        {
            Requests++;
            if (Overloaded-- > 0)
            {
                return new HttpResponseMessage(HttpStatusCode.ServiceUnavailable) { Content = new StringContent("""{"type":"urn:pnh:problem:overloaded","status":503,"code":"overloaded"}""") };
            }

            var answer = await base.SendAsync(request, cancellationToken);
            await answer.Content.LoadIntoBufferAsync(cancellationToken);
            if (Lost-- > 0)
            {
                answer.Dispose();
                throw new HttpRequestException("lost");
            }

            return answer;
        }
    }
}
