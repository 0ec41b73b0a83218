using System.Buffers;
using System.Text.Json;
using Pnh.Api.Access;
using Pnh.Api.Bodies;
using Pnh.Api.Ingest;
using Pnh.Api.Problems;
using Pnh.Api.Routing;
using Pnh.Core.Events;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Api.Endpoints;

/// <summary>The whole registry of an app as NDJSON, out and in, streamed: what is exported here can be imported elsewhere.</summary>
internal sealed class DeviceTransfer
{
    // Writes under way at once share one flush of the registry.
    private const int Window = 64;
    private readonly IDeviceStore _devices;
    private readonly HistoryReads _reads;
    private readonly DeviceRegistrations _registrations;
    private readonly DeviceJson _json;
    private readonly TimeProvider _time;
    private readonly CancellationToken _stopping;

    public DeviceTransfer(
        IDeviceStore devices, HistoryReads reads, DeviceRegistrations registrations, DeviceJson json, TimeProvider time, IHostApplicationLifetime lifetime)
    {
        _devices = devices;
        _reads = reads;
        _registrations = registrations;
        _json = json;
        _time = time;
        _stopping = lifetime.ApplicationStopping;
    }

    public void Map(IEndpointRouteBuilder routes)
    {
        routes.MapGet("/v1/devices:export", ExportAsync).RequireScope(Scope.Admin);
        routes.MapPost("/v1/devices:import", ImportAsync).RequireScope(Scope.Admin);
    }

    private async Task ExportAsync(HttpContext context)
    {
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(context.RequestAborted, _stopping);
        try
        {
            await ExportAsync(context, ending.Token);
        }
        catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
        {
            // It has no last line: cut off it is seen as incomplete, ended well it would pass for all there is.
            context.Abort();
        }
    }

    private async Task ExportAsync(HttpContext context, CancellationToken ending)
    {
        var (app, output) = (Caller.Of(context).App, context.Response.BodyWriter);
        context.Response.ContentType = RequestBody.Ndjson;
        await using var json = new Utf8JsonWriter(output);
        if (!await _reads.WriteAsync(app, _devices.ExportAsync(app, ending), Write, async () => await output.FlushAsync(ending), ending))
        {
            await HistoryReads.TooMany.ExecuteAsync(context);
        }

        void Write(OwnedDevice owned)
        {
            json.Reset(output);
            _json.Write(json, owned.User, owned.Device);
            json.Flush();
            output.Write("\n"u8);
        }
    }

    private Task ImportAsync(HttpContext context) => AnswerTime.WriteAsync(context, over => ImportAsync(context, over), _stopping);

    private async Task ImportAsync(HttpContext context, CancellationToken over)
    {
        if (RequestBody.CheckType(context.Request, RequestBody.Ndjson) is { } problem)
        {
            await problem.ExecuteAsync(context);
            return;
        }

        EventBatches.LiftLimit(context);

        context.Response.ContentType = RequestBody.Ndjson;
        using var body = new UploadBody(context, _stopping);
        var import = new Import(new NdjsonAnswer(context, over), body);
        var lines = new JsonLines();
        var kind = ItemKind.NeedMore;
        while (await body.ReadAsync() is { } read)
        {
            var buffer = read.Buffer;
            while (!import.Answer.IsFull && !body.IsStopping && (kind = lines.Next(ref buffer, read.IsCompleted, out var line)) is ItemKind.Item or ItemKind.TooLong)
            {
                import.Take(kind == ItemKind.Item ? Write(Caller.Of(context).App, line.ToArray()) : Task.FromResult<Problem?>(TooLong));
                if (import.Count == Window)
                {
                    await import.SettleAsync();
                }
            }

            await import.SettleAsync();
            body.AdvanceTo(buffer.Start, buffer.End);
            if (read.IsCompleted || import.Answer.IsFull)
            {
                break;
            }
        }

        import.WriteEnd(kind);
        await import.Answer.FlushAsync();
    }

    private static Problem TooLong { get; } = new(ProblemCatalogue.BodyTooLarge, $"A device has at most {Limits.EventBytes} bytes.");

    private async Task<Problem?> Write(string app, byte[] line)
    {
        var errors = new List<FieldError>();
        if (_json.Read(app, line, null, null, _time.GetUtcNow(), errors) is not { } owned)
        {
            return EventAnswers.Invalid(errors);
        }

        var result = await _registrations.PutAsync(new UserKey(app, owned.User), owned.Device, CancellationToken.None);
        return result.Result == PutDeviceResult.TooManyDevices ? new Problem(ProblemCatalogue.TooManyDevices) : null;
    }

    /// <summary>The writes under way and the counts so far.</summary>
    private sealed class Import
    {
        private readonly List<Task<Problem?>> _writes = [];
        private long _index;
        private long _imported;

        internal Import(NdjsonAnswer answer, UploadBody body)
        {
            Answer = answer;
            Body = body;
        }

        internal NdjsonAnswer Answer { get; }

        private UploadBody Body { get; }

        internal int Count => _writes.Count;

        internal void Take(Task<Problem?> write) => _writes.Add(write);

        internal async ValueTask SettleAsync()
        {
            foreach (var write in _writes)
            {
                var index = _index++;
                if (await write is { } problem)
                {
                    Answer.Refuse(index, null, problem);
                }
                else
                {
                    _imported++;
                }
            }

            _writes.Clear();
            await Answer.FlushAsync();
        }

        internal void WriteEnd(ItemKind last) => Answer.WriteEnd(
            last == ItemKind.End ? null
            : Answer.IsFull ? NdjsonAnswer.TooManyRefusals(_index) : Body.Left(_index),
            json => json.WriteNumber("imported", _imported));
    }
}
