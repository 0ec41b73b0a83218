using System.IO.Pipelines;
using System.Text.Json;
using Pnh.Api.Access;
using Pnh.Api.Bodies;
using Pnh.Api.Ingest;
using Pnh.Api.Problems;
using Pnh.Api.Routing;
using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Sessions;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Api.Endpoints;

/// <summary>A user: devices and settings together, presence, the end of all sessions, and erasure with its receipt.</summary>
internal sealed class UserEndpoints
{
    private readonly IDeviceStore _devices;
    private readonly DeviceJson _json;
    private readonly Hub _hub;
    private readonly Erasure _erasure;
    private readonly IErasureStore _erasures;
    private readonly CancellationToken _stopping;

    /// <param name="devices">The registry.</param>
    /// <param name="json">How devices are told.</param>
    /// <param name="hub">Sessions and settings.</param>
    /// <param name="erasure">Takes everything from a user.</param>
    /// <param name="erasures">Receipts of erasures.</param>
    /// <param name="lifetime">An answer breaks off when the hub stops.</param>
    public UserEndpoints(IDeviceStore devices, DeviceJson json, Hub hub, Erasure erasure, IErasureStore erasures, IHostApplicationLifetime lifetime)
    {
        (_erasure, _erasures) = (erasure, erasures);
        _devices = devices;
        _json = json;
        _hub = hub;
        _stopping = lifetime.ApplicationStopping;
    }

    public void Map(IEndpointRouteBuilder routes)
    {
        routes.MapGet("/v1/users/{user}", GetAsync).RequireScopeOrOwner(Scope.Read);
        routes.MapGet("/v1/users/{user}/settings", GetSettingsAsync).RequireScopeOrOwner(Scope.Read);
        routes.MapPut("/v1/users/{user}/settings", PutSettingsAsync).RequireScopeOrOwner(Scope.Register);
        routes.MapGet("/v1/users/{user}/presence", PresenceAsync).RequireScopeOrOwner(Scope.Read);
        routes.MapDelete("/v1/users/{user}", EraseAsync).RequireScope(Scope.Admin);
        routes.MapGet("/v1/erasures/{id}", GetErasureAsync).RequireScope(Scope.Admin);
        routes.MapDelete("/v1/users/{user}/sessions", KickAsync).RequireScope(Scope.Admin);
    }

    private async Task GetAsync(HttpContext context)
    {
        if (!PathUser.TryRead(context, out var key, out var problem))
        {
            await problem!.ExecuteAsync(context);
            return;
        }

        var user = await _devices.GetUserAsync(key, context.RequestAborted);
        var removed = await _devices.FindRemovedAddressesAsync(key, context.RequestAborted);
        context.Response.ContentType = RequestBody.Json;
        await AnswerTime.WriteAsync(context, over => WriteAsync(context.Response.BodyWriter, _json, key.User, user, removed, over), _stopping);
    }

    /// <summary>In pieces: 10,000 devices with long addresses are 150 MB.</summary>
    internal static async Task WriteAsync(PipeWriter output, DeviceJson devices, string user, UserSnapshot snapshot, IReadOnlyList<RemovedAddress> removed, CancellationToken cancellationToken)
    {
        await using (var json = new Utf8JsonWriter(output))
        {
            var pieces = new JsonPieces(json, output);
            json.WriteStartObject();
            json.WriteString("user", user);
            json.WriteStartArray("devices");
            foreach (var device in snapshot.Devices)
            {
                devices.Write(json, null, device, removed);
                await pieces.FlushWhenDueAsync(cancellationToken);
            }

            json.WriteEndArray();
            json.WritePropertyName("settings");
            SettingsJson.Write(json, snapshot.Settings);
            json.WriteEndObject();
        }

        await output.FlushAsync(cancellationToken);
    }

    private async Task GetSettingsAsync(HttpContext context)
    {
        if (!PathUser.TryRead(context, out var key, out var problem))
        {
            await problem!.ExecuteAsync(context);
            return;
        }

        var user = await _devices.GetUserAsync(key, context.RequestAborted);
        await JsonAnswer.WriteAsync(context.Response, json => SettingsJson.Write(json, user.Settings));
    }

    private async Task PutSettingsAsync(HttpContext context)
    {
        if (!PathUser.TryRead(context, out var key, out var problem))
        {
            await problem!.ExecuteAsync(context);
            return;
        }

        var barrier = _erasures.FindBarrier(key);
        using var body = await RequestBody.ReadAsync(context.Request, RequestBody.Json, Limits.EventBytes, context.RequestAborted);
        var errors = new List<FieldError>();
        if ((body.Problem ?? PathUser.CheckErasure(context, _erasures, key, barrier)) is { } refusal)
        {
            await refusal.ExecuteAsync(context);
        }
        else if (SettingsJson.Read(body.Bytes, errors) is not { } settings)
        {
            await EventAnswers.Invalid(errors).ExecuteAsync(context);
        }
        else
        {
            await _hub.Memberships.PutSettingsAsync(key, settings, context.RequestAborted);
            await JsonAnswer.WriteAsync(context.Response, json => SettingsJson.Write(json, settings));
        }
    }

    private Task PresenceAsync(HttpContext context)
    {
        if (!PathUser.TryRead(context, out var key, out var problem))
        {
            return problem!.ExecuteAsync(context);
        }

        var sessions = _hub.Router.Sessions(key);
        var isActive = sessions.Any(static session => session.State == SessionState.Active);
        var presence = new PresenceBody(key.User, sessions.Count > 0, isActive, [.. sessions.Select(Show)]);
        return JsonAnswer.WriteAsync(context.Response, presence, AnswersJson.Default.PresenceBody);
    }

    private Task KickAsync(HttpContext context) => PathUser.TryRead(context, out var key, out var problem)
        ? JsonAnswer.WriteAsync(context.Response, new ClosedBody(_hub.Router.Kick(key)), AnswersJson.Default.ClosedBody)
        : problem!.ExecuteAsync(context);

    private async Task EraseAsync(HttpContext context)
    {
        if (PathUser.TryRead(context, out var key, out var problem))
        {
            await WriteAsync(context, key.User, await _erasure.RunAsync(key, context.RequestAborted));
        }
        else
        {
            await problem!.ExecuteAsync(context);
        }
    }

    private async Task GetErasureAsync(HttpContext context)
    {
        var id = context.Request.RouteValues["id"] as string ?? "";
        if (await _erasures.FindAsync(Caller.Of(context).App, id, context.RequestAborted) is { } receipt)
        {
            await WriteAsync(context, user: null, receipt);
        }
        else
        {
            await new Problem(ProblemCatalogue.NoSuchItem, "No erasure of this app has that id.").ExecuteAsync(context);
        }
    }

    private static Task WriteAsync(HttpContext context, string? user, ErasureReceipt receipt)
    {
        var parts = receipt.Parts;
        var body = new ErasedBody(user, parts.Devices, parts.Topics, parts.Sessions, parts.Withdrawn, parts.GoneBy, receipt.Id, receipt.At);
        return JsonAnswer.WriteAsync(context.Response, body, AnswersJson.Default.ErasedBody);
    }

    private static SessionBody Show(LiveSession session) =>
        new(session.Key.Session, session.Key.Device, session.State == SessionState.Active ? "active" : "background", session.Since);
}
