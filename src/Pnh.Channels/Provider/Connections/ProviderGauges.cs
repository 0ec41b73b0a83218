using System.Collections.Immutable;
using Microsoft.Extensions.Logging;
using Pnh.Core.Diagnostics;

namespace Pnh.Channels.Provider.Connections;

/// <summary>Where a provider connection stands.</summary>
public enum ConnectionState
{
    /// <summary>Open, but no authenticated answer has come yet: one request at a time where the provider wants it so.</summary>
    Cold,

    /// <summary>Open and proven.</summary>
    Warm,

    /// <summary>Takes no more requests; what is under way finishes.</summary>
    Draining,
}

/// <summary>Why a connection took no more requests.</summary>
public enum ConnectionEnd
{
    /// <summary>The peer said so, without an error.</summary>
    GoAway,

    /// <summary>The peer said so and named an error.</summary>
    GoAwayError,

    /// <summary>Broken, or closed by the peer without a word.</summary>
    Lost,

    /// <summary>Requests waited too long without any answer.</summary>
    Stalled,

    /// <summary>Nothing was sent over it for long.</summary>
    Idle,

    /// <summary>Its time was over.</summary>
    Lifetime,

    /// <summary>Our credential on it was used up.</summary>
    Retired,
}

/// <summary>
/// What a channel's connections are, carry and went through, for the <c>pnh_provider_</c> metrics. One per provider channel, registered as a service;
/// counted per pool and summed when read. Thread-safe.
/// </summary>
public sealed class ProviderGauges
{
    private readonly long[] _ends = new long[Enum.GetValues<ConnectionEnd>().Length];
    private ImmutableArray<ConnectionPool> _pools = [];
    private ImmutableArray<Func<bool>> _openBreakers = [];
    private ImmutableArray<Reading> _credentials = [];
    private ImmutableArray<Uri> _origins = [];
    private long _inFlight;
    private long _open;
    private long _dials;
    private long _dialFailures;
    private long _reloads;
    private long _refusedReloads;

    /// <summary>For the channel of this name, by this clock.</summary>
    internal ProviderGauges(string channel, TimeProvider time, ILogger logger)
    {
        Channel = channel;
        Clock = new ClockSkew(channel, time, logger);
    }

    /// <summary>Channel name: the label.</summary>
    public string Channel { get; }

    /// <summary>Where the accounts connect to, each address once; none for a channel whose devices say it.</summary>
    public IReadOnlyList<Uri> Origins => _origins;

    /// <summary>Requests handed to a connection and not answered yet, those that wait for a place not counted.</summary>
    public long InFlight => _pools.Sum(static pool => (long)pool.InFlight) + Volatile.Read(ref _inFlight);

    /// <summary>Dials that brought a connection.</summary>
    public long Dials => Volatile.Read(ref _dials);

    /// <summary>Dials that failed: name, TCP, TLS or ALPN.</summary>
    public long DialFailures => Volatile.Read(ref _dialFailures);

    /// <summary>Open connections in this state.</summary>
    public long Connections(ConnectionState state) =>
        _pools.Sum(pool => (long)pool.Count(state)) + (state == ConnectionState.Warm ? Volatile.Read(ref _open) : 0);

    /// <summary>Connections that ended for this cause, since the start.</summary>
    public long Ends(ConnectionEnd end) => Volatile.Read(ref _ends[(int)end]);

    /// <summary>What else there is to export, now: credentials join when the accounts are read. Each is quick to read, from any thread.</summary>
    public IReadOnlyList<(ProviderReading Reading, string Label, Func<double> Read)> Readings =>
    [
        (ProviderReading.Dials, "opened", () => Dials),
        (ProviderReading.Dials, "failed", () => DialFailures),
        .. Enum.GetValues<ConnectionEnd>().Select(end => (ProviderReading.ConnectionEnds, Label(end), (Func<double>)(() => Ends(end)))),
        (ProviderReading.OpenBreakers, "", () => _openBreakers.Count(static isOpen => isOpen())),
        (ProviderReading.CredentialReloads, "taken", () => Volatile.Read(ref _reloads)),
        (ProviderReading.CredentialReloads, "refused", () => Volatile.Read(ref _refusedReloads)),
        (ProviderReading.ClockSkew, "", () => Clock.Skew.TotalSeconds),
        .. _credentials.Select(one => (ProviderReading.CredentialSecondsLeft, one.Account, (Func<double>)(() => one.Left().TotalSeconds))),
    ];

    internal ClockSkew Clock { get; }

    internal void Add(ConnectionPool pool) => ImmutableInterlocked.Update(ref _pools, static (all, one) => all.Add(one), pool);

    internal void Remove(ConnectionPool pool) => ImmutableInterlocked.Update(ref _pools, static (all, one) => all.Remove(one), pool);

    internal void Ended(ConnectionEnd end) => Interlocked.Increment(ref _ends[(int)end]);

    internal void Dialled(bool opened) => Interlocked.Increment(ref opened ? ref _dials : ref _dialFailures);

    /// <summary>A connection outside a pool began (1) or ended (-1).</summary>
    internal void Opened(int change) => Interlocked.Add(ref _open, change);

    /// <summary>A request outside a pool began (1) or ended (-1).</summary>
    internal void Sending(int change) => Interlocked.Add(ref _inFlight, change);

    /// <summary>One more breaker to count while <paramref name="isOpen"/> says so: quick, from any thread.</summary>
    internal void AddBreaker(Func<bool> isOpen) => ImmutableInterlocked.Update(ref _openBreakers, static (all, one) => all.Add(one), isOpen);

    internal void RemoveBreaker(Func<bool> isOpen) => ImmutableInterlocked.Update(ref _openBreakers, static (all, one) => all.Remove(one), isOpen);

    /// <summary>An account connects there.</summary>
    internal void AddOrigin(Uri address) => ImmutableInterlocked.Update(
        ref _origins, static (all, one) => all.Contains(one) ? all : all.Add(one), new Uri(address.GetLeftPart(UriPartial.Authority)));

    /// <summary>An account's credential and how long it will be accepted.</summary>
    internal void AddCredential(string account, Func<TimeSpan> left) =>
        ImmutableInterlocked.Update(ref _credentials, static (all, one) => all.Add(one), new Reading(account, left));

    /// <summary>A credential's file has changed.</summary>
    internal void Reloaded(bool taken) => Interlocked.Increment(ref taken ? ref _reloads : ref _refusedReloads);

    private static string Label(ConnectionEnd end) => end == ConnectionEnd.GoAwayError ? "goaway_error" : end.ToString().ToLowerInvariant();

    private sealed record Reading(string Account, Func<TimeSpan> Left);
}
