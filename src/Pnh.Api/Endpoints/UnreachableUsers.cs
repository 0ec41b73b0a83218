using System.Buffers;
using System.Collections.Concurrent;
using System.Text.Json;
using Pnh.Api.Access;
using Pnh.Api.Bodies;
using Pnh.Api.Problems;
using Pnh.Api.Routing;
using Pnh.Core.Addresses;
using Pnh.Core.Push;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Api.Endpoints;

/// <summary>The users whom no push can reach, and why, as NDJSON: streamed out of the registry with constant memory.</summary>
internal sealed class UnreachableUsers
{
    private static readonly TimeSpan RetryAfter = TimeSpan.FromSeconds(10);
    private readonly IDeviceStore _devices;
    private readonly HistoryReads _reads;
    private readonly TimeProvider _time;
    private readonly Dictionary<string, IPushChannel> _channels;
    private readonly CancellationToken _stopping;

    // One at a time and app. Each reads the whole registry of its app, and events are not shed for its sake: any number at once would be an overload by itself,
    // and a number for all apps would be one app's to use up by reading slowly.
    private readonly ConcurrentDictionary<string, bool> _underWay = new(StringComparer.Ordinal);

    public UnreachableUsers(IDeviceStore devices, HistoryReads reads, IEnumerable<IPushChannel> channels, TimeProvider time, IHostApplicationLifetime lifetime)
    {
        _devices = devices;
        _reads = reads;
        _time = time;
        _channels = channels.ToDictionary(static channel => channel.Name, StringComparer.Ordinal);
        _stopping = lifetime.ApplicationStopping;
    }

    public void Map(IEndpointRouteBuilder routes) => routes.MapGet("/v1/users:unreachable", ReadAsync).RequireScope(Scope.Read);

    private async Task ReadAsync(HttpContext context)
    {
        var app = Caller.Of(context).App;
        if (!_underWay.TryAdd(app, true))
        {
            await new Problem(ProblemCatalogue.TooManyRequests, "Such a report is being read.", retryAfter: RetryAfter).ExecuteAsync(context);
            return;
        }

        try
        {
            await AnswerTime.WriteAsync(context, over => ReadAsync(context, app, over), _stopping);
        }
        finally
        {
            _underWay.TryRemove(app, out _);
        }
    }

    private async Task ReadAsync(HttpContext context, string app, CancellationToken over)
    {
        var output = context.Response.BodyWriter;
        context.Response.ContentType = RequestBody.Ndjson;
        context.Response.Headers.CacheControl = "no-store";
        await using var json = new Utf8JsonWriter(output);
        var user = new Reach(null, 0, Standing.NoAddress);
        if (!await _reads.WriteAsync(app, _devices.ExportAsync(app, over), Take, async () => await output.FlushAsync(over), over))
        {
            await HistoryReads.TooMany.ExecuteAsync(context);
            return;
        }

        Write(json, output, user);
        await output.FlushAsync(over);

        void Take(OwnedDevice owned)
        {
            if (!string.Equals(owned.User, user.User, StringComparison.Ordinal))
            {
                Write(json, output, user);
                user = new Reach(owned.User, 0, Standing.NoAddress);
            }

            user = user with { Devices = user.Devices + 1, Best = Better(user.Best, StandingOf(app, owned.Device)) };
        }
    }

    private Standing StandingOf(string app, Device device)
    {
        var best = Standing.NoAddress;
        foreach (var address in device.Addresses)
        {
            best = Better(
                best,
                _channels.GetValueOrDefault(address.Channel)?.FindAccount(app, address) is null ? Standing.NoProvider
                : AddressSweep.IsStale(address, _time.GetUtcNow()) ? Standing.Stale
                : Standing.Reachable);
        }

        return best;
    }

    private static Standing Better(Standing one, Standing other) => one > other ? one : other;

    private static void Write(Utf8JsonWriter json, IBufferWriter<byte> output, in Reach user)
    {
        if (user.User is null || user.Best == Standing.Reachable)
        {
            return;
        }

        json.Reset(output);
        json.WriteStartObject();
        json.WriteString("user", user.User);
        json.WriteNumber("devices", user.Devices);
        json.WriteString("reason", user.Best switch
        {
            Standing.NoAddress => "no-address",
            Standing.NoProvider => "no-provider",
            _ => "stale",
        });
        json.WriteEndObject();
        json.Flush();
        output.Write("\n"u8);
    }

    /// <summary>Worst first: the best of a user's addresses counts.</summary>
    private enum Standing
    {
        NoAddress,
        NoProvider,
        Stale,
        Reachable,
    }

    private readonly record struct Reach(string? User, int Devices, Standing Best);
}
