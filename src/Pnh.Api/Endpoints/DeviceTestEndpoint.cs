using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Pnh.Api.Access;
using Pnh.Api.Bodies;
using Pnh.Api.Ingest;
using Pnh.Api.Problems;
using Pnh.Api.Routing;
using Pnh.Core.Hubs;
using Pnh.Core.Journal;
using Pnh.Core.Plans;
using Pnh.Core.Push;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Api.Endpoints;

/// <summary>
/// A push to one device, for the person who holds it: which link of the way holds, and which is broken. Not <c>{device}:test</c>: a device's id may hold a colon.
/// Of a device one push is sent within 10 s; a caller who asks again meanwhile gets the answer of that one.
/// </summary>
internal sealed class DeviceTestEndpoint
{
    private const int SlotSeconds = 10;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan LookAgain = TimeSpan.FromMilliseconds(200);

    private readonly IDeviceStore _devices;
    private readonly IReadOnlyList<IPushChannel> _channels;
    private readonly EventIntake _intake;
    private readonly IEventJournal _journal;
    private readonly TimeProvider _time;

    public DeviceTestEndpoint(IDeviceStore devices, IEnumerable<IPushChannel> channels, EventIntake intake, IEventJournal journal, TimeProvider time)
    {
        (_devices, _intake, _journal, _time) = (devices, intake, journal, time);
        _channels = [.. channels.OrderBy(static channel => channel.Name, StringComparer.Ordinal)];
    }

    public void Map(IEndpointRouteBuilder routes) => routes.MapPost("/v1/users/{user}/devices/{device}/test", RunAsync).RequireScopeOrOwner(Scope.Send);

    private async Task RunAsync(HttpContext context)
    {
        if (!PathUser.TryRead(context, out var key, out var problem) || PathUser.Device(context, out problem) is not { } id)
        {
            await problem!.ExecuteAsync(context);
            return;
        }

        var user = await _devices.GetUserAsync(key, context.RequestAborted);
        var links = new List<LinkBody>();
        string? eventId = null;
        if (FindChannel(key.App, user.Find(id), links) is { } channel)
        {
            eventId = IdOf(key, id);
            if (await SendAsync(context, key, id, eventId, channel) is { } refusal)
            {
                await refusal.ExecuteAsync(context);
                return;
            }

            links.Add(await WaitAsync(key, id, eventId, context.RequestAborted));
        }

        var isSent = links.TrueForAll(static link => link.Holds);
        if (isSent)
        {
            links.Add(new LinkBody("screen", true, "Nothing on the screen? Notifications of the app are off in the device's settings, or a focus is on.", null));
        }

        context.Response.Headers.CacheControl = "no-store";
        await JsonAnswer.WriteAsync(context.Response, new DeviceTestBody(isSent, eventId, links), AnswersJson.Default.DeviceTestBody);
    }

    /// <summary>What can be said before anything is sent; null with the broken link.</summary>
    private string? FindChannel(string app, Device? device, List<LinkBody> links)
    {
        if (device is null)
        {
            links.Add(new LinkBody("registration", false, "The hub does not know this device. The app registers it when it starts, for the user who is signed in.", null));
            return null;
        }

        links.Add(new LinkBody("registration", true, string.Create(CultureInfo.InvariantCulture, $"Registered at {device.RegisteredAt:u}."), null));
        if (device.Addresses.Count == 0)
        {
            links.Add(new LinkBody("address", false, "It has no push address: the app was not allowed to notify, or the provider called its address dead. Open the app once.", "no-address"));
            return null;
        }

        var served = _channels.FirstOrDefault(channel => device.Addresses.Any(address => address.Channel == channel.Name && channel.FindAccount(app, address) is not null));
        var names = string.Join(", ", device.Addresses.Select(static address => address.Channel).Distinct());
        links.Add(new LinkBody("address", true, $"It has a push address of {names}.", null));
        links.Add(served is null
            ? new LinkBody("account", false, FindRefusal(app, device) ?? $"The hub has no account that serves it: another bundle id, Firebase project or environment than the hub's accounts for {names}.", "no-provider")
            : new LinkBody("account", true, $"The hub has an account of {served.Name} for it.", null));
        return served?.Name;
    }

    /// <summary>As a registration of the same address is told today; null = that is taken.</summary>
    private string? FindRefusal(string app, Device device) =>
        device.Addresses.Select(address => _channels.FirstOrDefault(channel => channel.Name == address.Channel)?.CheckAddress(app, address)?.Detail).FirstOrDefault(static detail => detail is not null);

    /// <summary>The same for ten seconds: what is asked for twice is one event.</summary>
    private string IdOf(UserKey key, string device)
    {
        var hash = Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes($"{key.User}\n{device}"))[..8]);
        return string.Create(CultureInfo.InvariantCulture, $"test-{hash}-{_time.GetUtcNow().ToUnixTimeSeconds() / SlotSeconds}");
    }

    /// <summary>Null = the hub took it.</summary>
    private async Task<Problem?> SendAsync(HttpContext context, UserKey key, string device, string id, string channel)
    {
        var body = JsonSerializer.SerializeToUtf8Bytes(
            new TestEventBody(id, new TestTargetBody(new TestDeviceBody(key.User, device)), 60, [channel], new TestTextBody("Test", "This device is reached.")), AnswersJson.Default.TestEventBody);
        if (_intake.Ask(key.App, body, context.Connection.Id.GetHashCode(StringComparison.Ordinal), out var place) is not DoorAnswer.Taken and var refusal)
        {
            return new Problem(ProblemCatalogue.Overloaded, retryAfter: TimeSpan.FromSeconds(EventAcceptor.RetrySeconds(refusal)));
        }

        return _intake.ReadSent(key.App, body, traceParent: null, place, out var problem) is { } accepted
            ? EventAnswers.Refusal(await _intake.AcceptAsync(accepted, place))
            : problem;
    }

    private async Task<LinkBody> WaitAsync(UserKey key, string device, string id, CancellationToken cancellationToken)
    {
        var started = _time.GetTimestamp();
        while (true)
        {
            var history = await _journal.ReadAsync(key.App, id, key.User, cancellationToken);
            Milestone? last = null;
            foreach (var milestone in history?.Milestones ?? [])
            {
                last = milestone.Device == device ? milestone : last;
            }

            if (last is { Kind: MilestoneKind.Settled } or { Kind: MilestoneKind.Held, Reason: PlanReasons.QuietHours or PlanReasons.DoNotDisturb } || _time.GetElapsedTime(started) >= Patience)
            {
                return Judge(last, history?.Event.AcceptedAt);
            }

            await Task.Delay(LookAgain, _time, cancellationToken);
        }
    }

    private static LinkBody Judge(Milestone? last, DateTimeOffset? sent) => last switch
    {
        { Kind: MilestoneKind.Settled, State: DeliveryStateNames.Accepted } => new LinkBody(
            "provider", true, string.Create(CultureInfo.InvariantCulture, $"{last.Value.Channel} took the push after {(last.Value.At - sent.GetValueOrDefault()).TotalMilliseconds:F0} ms."), null),
        { Kind: MilestoneKind.Settled, State: "suppressed" } or { Kind: MilestoneKind.Held, Reason: PlanReasons.QuietHours or PlanReasons.DoNotDisturb } => new LinkBody("settings", false, "The user's settings hold pushes back now.", last.Value.Reason),
        { Kind: MilestoneKind.Settled } => new LinkBody("provider", false, $"No push went out: {last.Value.State}. The reason is the provider's own word, or one that /docs/why explains.", last.Value.Reason),
        { Reason: { } reason } => new LinkBody("provider", false, "The provider has not taken it yet; the hub tries again for a minute.", reason),
        _ => new LinkBody("provider", false, "The provider has not answered yet.", null),
    };
}
