using Pnh.Api.Access;
using Pnh.Api.Bodies;
using Pnh.Api.Ingest;
using Pnh.Api.Problems;
using Pnh.Api.Routing;
using Pnh.Channels.WebPush;
using Pnh.Core.Events;
using Pnh.Core.Sessions;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Api.Endpoints;

/// <summary>Registrations: idempotent installations with a client-chosen id.</summary>
internal sealed class DeviceEndpoints
{
    // A device's JSON is a few addresses; the largest (several tokens) stays far below.
    internal const int BodyBytes = 16 * 1024;

    private const string TooManyMoves =
        "An address of this registration is another user's, and client tokens have moved as many within the hour, to this user or from that one, as they may. Nothing was written.";

    private readonly IDeviceStore _devices;
    private readonly DeviceRegistrations _registrations;
    private readonly DeviceJson _json;
    private readonly IErasureStore _erasures;
    private readonly RenewalKeys _renewals;
    private readonly TimeProvider _time;

    public DeviceEndpoints(IDeviceStore devices, DeviceRegistrations registrations, DeviceJson json, IErasureStore erasures, RenewalKeys renewals, TimeProvider time)
    {
        _renewals = renewals;
        _erasures = erasures;
        _devices = devices;
        _registrations = registrations;
        _json = json;
        _time = time;
    }

    public void Map(IEndpointRouteBuilder routes)
    {
        routes.MapPut("/v1/users/{user}/devices/{device}", PutAsync).RequireScopeOrOwner(Scope.Register);
        routes.MapGet("/v1/users/{user}/devices/{device}", GetAsync).RequireScopeOrOwner(Scope.Read);
        routes.MapDelete("/v1/users/{user}/devices/{device}", DeleteAsync).RequireScopeOrOwner(Scope.Register);
        routes.MapPost("/v1/webpush/renew", RenewAsync).AllowAnyone(); // its key says whose
    }

    private async Task PutAsync(HttpContext context)
    {
        if (!PathUser.TryRead(context, out var key, out var problem) || PathUser.Device(context, out problem) is not { } id)
        {
            await problem!.ExecuteAsync(context);
            return;
        }

        var barrier = _erasures.FindBarrier(key);
        using var body = await RequestBody.ReadAsync(context.Request, RequestBody.Json, BodyBytes, context.RequestAborted);
        var errors = new List<FieldError>();
        if ((body.Problem ?? PathUser.CheckErasure(context, _erasures, key, barrier)) is { } refusal)
        {
            await refusal.ExecuteAsync(context);
        }
        else if (_json.Read(key.App, body.Bytes, key.User, id, _time.GetUtcNow(), errors) is not { } read)
        {
            await EventAnswers.Invalid(errors).ExecuteAsync(context);
        }
        else
        {
            var registration = Caller.Of(context).Client is null
                ? await _registrations.PutAsync(key, read.Device, context.RequestAborted)
                : await _registrations.PutByClientAsync(key, read.Device, context.RequestAborted);
            await AnswerAsync(context, registration, key, read.Device);
        }
    }

    // A browser replaced its subscription while no tab was open: its service worker shows the key that came with the registration.
    private async Task RenewAsync(HttpContext context)
    {
        if (_renewals.Read(BearerCredential.Read(context.Request.Headers.Authorization)) is not { } key)
        {
            await AccessGate.Challenge(context, "bad-renewal-key", "renewal key");
            return;
        }

        context.Features.Set(Caller.OfClient(new ClientIdentity(key.User.App, key.User.User, key.Device, [], DateTimeOffset.MaxValue)));
        using var body = await RequestBody.ReadAsync(context.Request, RequestBody.Json, BodyBytes, context.RequestAborted);
        var errors = new List<FieldError>();
        if (body.Problem is { } refusal)
        {
            await refusal.ExecuteAsync(context);
        }
        else if (_json.Read(key.User.App, body.Bytes, key.User.User, key.Device, _time.GetUtcNow(), errors) is not { } read)
        {
            await EventAnswers.Invalid(errors).ExecuteAsync(context);
        }
        else if (RenewalKeys.SubscriptionOf(read.Device) is not { } renewed)
        {
            await EventAnswers.Invalid([new FieldError("/webpush", "required", "The member is missing.")]).ExecuteAsync(context);
        }
        else if (await FindRenewableAsync(key, renewed, context.RequestAborted) is not { } device)
        {
            await AccessGate.Challenge(context, "used-renewal-key", "renewal key");
        }
        else
        {
            var now = device with { Addresses = [.. device.Addresses.Where(static address => address.Channel != IWebPushKeys.Channel), renewed], RegisteredAt = read.Device.RegisteredAt };
            await AnswerAsync(context, await _registrations.PutByClientAsync(key.User, now, context.RequestAborted), key.User, now);
        }
    }

    private async Task<Device?> FindRenewableAsync(RenewalKey key, PushAddress renewed, CancellationToken cancellationToken)
    {
        var device = (await _devices.GetUserAsync(key.User, cancellationToken)).Find(key.Device);
        return device is not null && RenewalKeys.Opens(key, device, renewed, await _devices.FindRemovedAddressesAsync(key.User, cancellationToken)) ? device : null;
    }

    private Task AnswerAsync(HttpContext context, in Registration registration, UserKey key, Device device)
    {
        switch (registration.Result)
        {
            case PutDeviceResult.TooManyDevices:
                var most = Caller.Of(context).Client is null ? Limits.DevicesPerUser : Limits.DevicesByClient;
                return new Problem(ProblemCatalogue.TooManyDevices, $"The user has {most} devices or more, and this credential adds none to them.").ExecuteAsync(context);
            case PutDeviceResult.TooManyMoves:
                return new Problem(ProblemCatalogue.TooManyRequests, TooManyMoves, retryAfter: registration.RetryAfter).ExecuteAsync(context);
        }

        context.Response.StatusCode = registration.Result == PutDeviceResult.Created ? StatusCodes.Status201Created : StatusCodes.Status200OK;
        context.Response.Headers.CacheControl = "no-store";
        return JsonAnswer.WriteAsync(context.Response, json => _json.Write(json, null, device, renewal: _renewals.Make(key, device)));
    }

    private async Task GetAsync(HttpContext context)
    {
        if (!PathUser.TryRead(context, out var key, out var problem) || PathUser.Device(context, out problem) is not { } id)
        {
            await problem!.ExecuteAsync(context);
            return;
        }

        var user = await _devices.GetUserAsync(key, context.RequestAborted);
        var device = user.Find(id);
        if (device is null)
        {
            await new Problem(ProblemCatalogue.NoSuchItem, "The user has no such device.").ExecuteAsync(context);
            return;
        }

        var removed = await _devices.FindRemovedAddressesAsync(key, context.RequestAborted);
        await JsonAnswer.WriteAsync(context.Response, json => _json.Write(json, null, device, removed));
    }

    private async Task DeleteAsync(HttpContext context)
    {
        if (!PathUser.TryRead(context, out var key, out var problem) || PathUser.Device(context, out problem) is not { } id)
        {
            await problem!.ExecuteAsync(context);
            return;
        }

        // Idempotent: what is not there is as good as removed.
        await _devices.DeleteDeviceAsync(key, id, context.RequestAborted);
        context.Response.StatusCode = StatusCodes.Status204NoContent;
    }
}

/// <summary>The ids of a business path, checked.</summary>
internal static class PathUser
{

    internal static bool TryRead(HttpContext context, out UserKey key, out Problem? problem)
    {
        var user = Name(context, PathId.User, out problem);
        key = new UserKey(Caller.Of(context).App, user ?? "");
        return user is not null;
    }

    /// <summary>A client's token is looked at before the body comes. When its user was erased in between, what the body says would bring the user back.</summary>
    /// <param name="context">Of the request.</param>
    /// <param name="erasures">Knows when the user was erased last.</param>
    /// <param name="user">Whose the body is.</param>
    /// <param name="before">When that was before the body was read; null = never.</param>
    internal static Problem? CheckErasure(HttpContext context, IErasureStore erasures, UserKey user, DateTimeOffset? before) =>
        Caller.Of(context).Client is not null && erasures.FindBarrier(user) != before ? new Problem(ProblemCatalogue.Unauthorized, "The user was erased while the body was sent.") : null;

    internal static string? Device(HttpContext context, out Problem? problem) => Name(context, PathId.Device, out problem);

    /// <summary>The user, device or topic id in a route parameter; null with a problem when it is not allowed.</summary>
    internal static string? Name(HttpContext context, string parameter, out Problem? problem)
    {
        var isName = PathId.TryRead(context, parameter, out var name) && Ids.IsName(name);
        problem = isName ? null : new Problem(
            ProblemCatalogue.InvalidId, $"The {parameter} in the path must be 1 to {Limits.IdCharacters} printable characters, percent-encoded as UTF-8, not \".\" or \"..\".");
        return isName ? name : null;
    }
}
