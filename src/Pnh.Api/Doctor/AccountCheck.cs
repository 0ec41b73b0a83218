using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;

namespace Pnh.Api.Doctor;

/// <summary>Whether each provider takes its accounts: a push without texts to an address that no device has. What it says of the address is the proof that it took the account.</summary>
internal sealed class AccountCheck(IEnumerable<IPushChannel> channels, TimeProvider time)
{
    private const string Nobody = "doctor";
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);
    private static readonly byte[] Body = """{"to":{"user":"doctor"},"class":"message","ttl":60}"""u8.ToArray();
    private readonly EventReader _reader = new(ClassPolicies.Default, channels.Select(static channel => channel.Name));

    /// <summary>One finding for each account that can be asked for; none of Web Push, whose services know no accounts.</summary>
    public async Task<IReadOnlyList<Finding>> LookAsync(CancellationToken cancellationToken)
    {
        var asked = new List<Task<Finding>>();
        foreach (var channel in channels)
        {
            asked.AddRange(channel.MakeUpAddresses().Select(made => AskAsync(channel, made.App, made.Address, cancellationToken)));
        }

        return await Task.WhenAll(asked);
    }

    private async Task<Finding> AskAsync(IPushChannel channel, string app, PushAddress address, CancellationToken cancellationToken)
    {
        var account = channel.FindAccount(app, address) ?? throw new InvalidOperationException("An account's own address is served by it.");
        var user = new UserKey(app, Nobody);
        var delivery = new Delivery
        {
            Event = _reader.Read(Body, new EventOrigin(app, time.GetUtcNow(), time.GetTimestamp()), []) ?? throw new InvalidOperationException("The event is good."),
            User = user,
            Device = new Device { Id = Nobody, Platform = Platform.Desktop, Addresses = [address], RegisteredAt = address.RegisteredAt },
            Address = address,
        };
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        patience.CancelAfter(Patience);
        await using var sender = channel.Open(account, EventClass.Message);
        try
        {
            var result = await sender.SendAsync(delivery, patience.Token);
            return Judge(channel.Name, account, result.Late is { } late ? await late : result);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return Judge(channel.Name, account, DeliveryResult.Of(DeliveryStatus.Unavailable, "no answer"));
        }
    }

    private static Finding Judge(string channel, string account, DeliveryResult result) => result.Status switch
    {
        DeliveryStatus.Misconfigured => new Finding(Grade.Bad, channel, $"account {account} is refused: {result.Reason ?? "without a reason"}. docs/why.md says which setting it is"),
        DeliveryStatus.Unavailable or DeliveryStatus.Expired or DeliveryStatus.Unconfirmed => new Finding(Grade.Doubtful, channel, $"account {account} could not be asked for: {result.Reason ?? "no answer"}"),
        _ => new Finding(Grade.Good, channel, $"account {account} is taken"),
    };
}
