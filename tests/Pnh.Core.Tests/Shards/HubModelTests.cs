using Pnh.Core.Deliveries;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Core.Tests.Shards;

/// <summary>
/// Random lives of one user with four devices: hellos, acks, closes, changes of state, events, time and providers' answers. After each step
/// the hub is compared with what must hold whatever happened, and at the end everything has ended once.
/// </summary>
public sealed class HubModelTests
{
    private static readonly string[] Devices = ["phone1", "phone2", "tablet", "tab"];

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(5)]
    [InlineData(6)]
    [InlineData(7)]
    [InlineData(8)]
    public async Task RandomLife_KeepsItsPromises(int seed)
    {
        await using var hub = new HubUnderTest();
        await new Life(hub, new Random(seed)).RunAsync(400);
    }

    private sealed class Life(HubUnderTest hub, Random random)
    {
        private readonly Dictionary<string, Event> _events = [];
        private readonly Dictionary<string, int> _order = [];
        private readonly Dictionary<string, (FakeLink Link, SessionKey Key)> _open = [];
        private readonly List<(FakeLink Link, SessionKey Key)> _everOpened = [];
        private readonly Dictionary<(string Event, string Device), int> _pushesAtAck = [];

        public async Task RunAsync(int steps)
        {
            hub.Store.Put("ada", hub.Phone("phone1"), hub.Phone("phone2"), hub.NewDevice("tablet"));
            hub.Fcm.Answer = (_, _) => ValueTask.FromResult(RandomAnswer());
            for (var step = 0; step < steps; step++)
            {
                await StepAsync();
                AssertHolds();
            }

            await hub.PassAsync(TimeSpan.FromMinutes(20), TimeSpan.FromSeconds(10));
            AssertHolds();
            AssertEnded();
        }

        private async Task StepAsync()
        {
            var device = Devices[random.Next(Devices.Length)];
            switch (random.Next(10))
            {
                case 0 or 1 or 2:
                    await SendAsync();
                    break;
                case 3 or 4:
                    await hub.PassAsync(TimeSpan.FromSeconds(random.NextDouble() * (random.Next(4) == 0 ? 60 : 3)), TimeSpan.FromMilliseconds(500));
                    break;
                case 5:
                    _open[device] = await hub.OpenAsync(device, RandomState(), link: new FakeLink { Room = random.Next(5) == 0 ? 2 : int.MaxValue });
                    _everOpened.Add(_open[device]);
                    break;
                case 6 when _open.Remove(device, out var gone):
                    gone.Link.Close(gone.Key.Session, SessionClose.HubError);
                    hub.Hub.Closed(gone.Key);
                    break;
                case 7 when _open.TryGetValue(device, out var changing):
                    hub.Hub.StateChanged(changing.Key, RandomState());
                    break;
                default:
                    Acknowledge(device);
                    break;
            }

            await hub.RestAsync();
        }

        private async Task SendAsync()
        {
            var @class = EventClassNames.All[random.Next(3)];
            var ttl = new[] { 0, 1, 5, 60, 600 }[random.Next(5)];
            var accepted = hub.NewEvent($"\"class\":\"{@class.Label()}\",\"ttl\":{ttl}");
            _events.Add(accepted.Id, accepted);
            _order.Add(accepted.Id, _order.Count);
            await hub.Hub.AcceptAsync(accepted);
        }

        private void Acknowledge(string device)
        {
            if (!_open.TryGetValue(device, out var session) || session.Link.Ids is not { Count: > 0 } frames)
            {
                return;
            }

            var id = frames[random.Next(frames.Count)];
            var before = hub.Journal.EndOf(id, device);
            hub.Hub.Acked(session.Key, id);
            _pushesAtAck.TryAdd((id, device), Pushes(id, device));
            Assert.Equal(before ?? "acked", hub.Journal.EndOf(id, device));
        }

        private void AssertHolds()
        {
            foreach (var push in hub.Fcm.Sent)
            {
                var accepted = _events[push.Event];
                Assert.True(push.At < accepted.ExpiresAt || push.At == accepted.AcceptedAt, $"{push.Event} was pushed after its end");
            }

            var counts = hub.Fcm.Sent.CountBy(s => (s.Event, s.Device)).ToDictionary();
            foreach (var (delivery, pushes) in _pushesAtAck)
            {
                Assert.Equal(pushes, counts.GetValueOrDefault(delivery)); // never a push after the ack
            }

            foreach (var (link, key) in _everOpened)
            {
                // Once per session; in order, but for calls that may overtake.
                Assert.Equal(link.Ids.Count, link.Ids.Distinct().Count());
                var inOrder = link.Frames.Where(f => f.Class != EventClass.Call).Select(f => _order[f.Id]).ToList();
                Assert.True(inOrder.SequenceEqual(inOrder.Order()), $"{key.Device} got its events out of order");
            }
        }

        private void AssertEnded()
        {
            Assert.Equal(0, hub.Hub.Timers);
            Assert.Equal(_events.Keys.Order(), hub.Journal.Finished.Order());
            foreach (var id in _events.Keys)
            {
                // The three registered devices are in every plan; the journal itself refuses a second end.
                Assert.All(Devices[..3], device => Assert.NotNull(hub.Journal.EndOf(id, device)));
            }

            // No retry goes on after the provider accepted: accepted is an end.
            foreach (var end in hub.Journal.Settled.Where(s => s.State == "accepted"))
            {
                Assert.True(Pushes(end.Event, end.Device!) >= 1);
                Assert.True(hub.Fcm.Sent.Last(s => s.Event == end.Event && s.Device == end.Device!).At <= end.At);
            }
        }

        private int Pushes(string id, string device) => hub.Fcm.Sent.Count(s => s.Event == id && s.Device == device);

        private SessionState RandomState() => random.Next(2) == 0 ? SessionState.Active : SessionState.Background;

        // The lane's workers ask, up to four at once.
        private DeliveryResult RandomAnswer()
        {
            lock (random)
            {
                return random.Next(10) switch
                {
                    < 5 => DeliveryResult.Of(DeliveryStatus.Accepted),
                    5 or 6 => DeliveryResult.Of(DeliveryStatus.Unavailable, "down"),
                    7 => new DeliveryResult { Status = DeliveryStatus.Throttled, RetryAfter = TimeSpan.FromSeconds(random.Next(20)) },
                    8 => DeliveryResult.Of(DeliveryStatus.AddressDead, "UNREGISTERED"),
                    _ => DeliveryResult.Of(DeliveryStatus.Rejected, "bad"),
                };
            }
        }
    }
}
