using System.Buffers;
using System.IO.Pipelines;
using Microsoft.AspNetCore.Http.Features;
using Pnh.Api.Access;
using Pnh.Api.Bodies;
using Pnh.Api.Problems;
using Pnh.Core.Events;
using Pnh.Core.Hubs;

namespace Pnh.Api.Ingest;

/// <summary>
/// Streams of events, of any size with constant memory: what has arrived, up to <see cref="EventAcceptor.UploadBatch"/>, shares one flush of the journal and is dispatched in order. The answer is NDJSON under 207: a line per refused event and a count per 1,000
/// accepted, because most clients do not read while they upload; <c>?receipts=all</c> adds a line per accepted event.
/// </summary>
internal sealed class EventBatches
{
    private const int CountEvery = 1_000;

    // An upload that stands still for longer is cut by many a proxy.
    private static readonly TimeSpan OverloadPatience = TimeSpan.FromSeconds(10);
    private readonly Hub _hub;
    private readonly EventIntake _intake;
    private readonly CancellationToken _stopping;

    public EventBatches(Hub hub, EventIntake intake, IHostApplicationLifetime lifetime)
    {
        _hub = hub;
        _intake = intake;
        _stopping = lifetime.ApplicationStopping;
    }

    /// <summary>Lets the body be of any size; before anything of it is read, or it has no effect.</summary>
    internal static void LiftLimit(HttpContext context)
    {
        if (context.Features.Get<IHttpMaxRequestBodySizeFeature>() is { IsReadOnly: false } limit)
        {
            limit.MaxRequestBodySize = null;
        }
    }

    /// <summary>
    /// True when the body's first character opens an array; null when the hub stops before it has come. Only the blanks before it are consumed, as they
    /// come: there may be any number.
    /// </summary>
    internal static async ValueTask<bool?> StartsArrayAsync(PipeReader body, CancellationToken aborted, CancellationToken stopping)
    {
        // A single event is taken for as long as a listener is open: a stop does not cut its first bytes off, only blanks without end.
        var first = await body.ReadAsync(aborted);
        if (OpensArray(body, first) is { } isArray)
        {
            return isArray;
        }

        using var rest = new UploadBody(body, sender: null, aborted, stopping);
        while (await rest.ReadAsync() is { } read)
        {
            if (OpensArray(body, read) is { } known)
            {
                return known;
            }
        }

        return null;
    }

    /// <summary>Null = blanks so far.</summary>
    private static bool? OpensArray(PipeReader body, in ReadResult read)
    {
        var rest = JsonItems.SkipBlanks(read.Buffer);
        bool? isArray = rest.IsEmpty && !read.IsCompleted ? null : !rest.IsEmpty && rest.FirstSpan[0] == (byte)'[';
        body.AdvanceTo(rest.Start);
        return isArray;
    }

    internal ValueTask<bool?> StartsArrayAsync(HttpContext context) => StartsArrayAsync(context.Request.BodyReader, context.RequestAborted, _stopping);

    internal Task TakeLinesAsync(HttpContext context) => AnswerTime.WriteAsync(context, over => TakeAsync(context, new JsonLines(), over), _stopping);

    internal Task TakeArrayAsync(HttpContext context) => AnswerTime.WriteAsync(context, over => TakeAsync(context, new JsonElements(), over), _stopping);

    private async Task TakeAsync(HttpContext context, JsonItems items, CancellationToken over)
    {
        context.Response.StatusCode = StatusCodes.Status207MultiStatus;
        context.Response.ContentType = RequestBody.Ndjson;
        using var body = new UploadBody(context, _stopping);
        var batch = new Batch(context, body, new NdjsonAnswer(context, over), context.Request.Query["receipts"] == "all");
        var kind = ItemKind.NeedMore;
        while (await body.ReadAsync() is { } read)
        {
            kind = await TakeArrivedAsync(batch, items, read, read.Buffer);
            body.AdvanceTo(batch.Rest.Start, batch.Rest.End);
            if (kind is ItemKind.End or ItemKind.Malformed || read.IsCompleted || batch.Answer.IsFull)
            {
                break;
            }
        }

        batch.WriteEnd(kind);
        await batch.Answer.FlushAsync();
    }

    private async ValueTask<ItemKind> TakeArrivedAsync(Batch batch, JsonItems items, ReadResult read, ReadOnlySequence<byte> buffer)
    {
        var kind = ItemKind.NeedMore;
        while (!batch.Answer.IsFull && !batch.Body.IsStopping && (kind = items.Next(ref buffer, read.IsCompleted, out var item)) is ItemKind.Item or ItemKind.TooLong)
        {
            if (kind == ItemKind.TooLong)
            {
                batch.Refuse(new Problem(ProblemCatalogue.BodyTooLarge, $"An event has at most {Limits.EventBytes} bytes."));
            }
            else
            {
                Add(batch, item.ToArray());
            }

            if (batch.Events.Count >= _hub.Acceptor.UploadBatch)
            {
                await AcceptAsync(batch);
            }

            await batch.Answer.FlushWhenLargeAsync();
        }

        await AcceptAsync(batch);
        await batch.Answer.FlushAsync();
        batch.Rest = buffer;
        return kind;
    }

    private void Add(Batch batch, byte[] body)
    {
        if (_intake.ReadSent(Caller.Of(batch.Context).App, body, EventEndpoints.TraceParent(batch.Context), place: default, out var problem) is { } accepted)
        {
            batch.Add(accepted);
        }
        else
        {
            batch.Refuse(problem!);
        }
    }

    private async ValueTask AcceptAsync(Batch batch)
    {
        if (batch.Events.Count == 0)
        {
            return;
        }

        var hasWaited = true;
        try
        {
            // Not reading on makes the sender wait, which a refused line would not.
            hasWaited = await _hub.Acceptor.WaitForRoomAsync(OverloadPatience, batch.Body.Ending);
        }
        catch (OperationCanceledException) when (batch.Body.IsStopping)
        {
            // The last batch: taken without room, and the journal holds what no lane takes.
        }

        try
        {
            batch.Take(await _hub.Acceptor.AcceptManyAsync(batch.Events, hasWaited, batch.Body.Ending));
        }
        catch (OperationCanceledException) when (batch.Body.IsStopping)
        {
            batch.Leave();
        }

        await batch.Answer.FlushAsync();
    }

    /// <summary>The events read but not yet taken, and the answer written so far.</summary>
    private sealed class Batch
    {
        private readonly bool _receipts;
        private readonly List<long> _indexes = [];
        private long _index;
        private long _accepted;
        private long _duplicates;
        private bool _isLeft;

        internal Batch(HttpContext context, UploadBody body, NdjsonAnswer answer, bool receipts)
        {
            Context = context;
            Body = body;
            Answer = answer;
            _receipts = receipts;
        }

        internal HttpContext Context { get; }

        internal UploadBody Body { get; }

        internal NdjsonAnswer Answer { get; }

        internal List<Event> Events { get; } = [];

        internal ReadOnlySequence<byte> Rest { get; set; }

        internal void Add(Event accepted)
        {
            Events.Add(accepted);
            _indexes.Add(_index++);
        }

        internal void Refuse(Problem problem) => Answer.Refuse(_index++, null, problem);

        internal void Take(ReadOnlySpan<AcceptResult> results)
        {
            for (var i = 0; i < results.Length; i++)
            {
                var accepted = Events[i];
                if (EventAnswers.Refusal(results[i]) is { } problem)
                {
                    Answer.Refuse(_indexes[i], accepted.Id, problem);
                    continue;
                }

                Count(results[i].Status);
                if (_receipts)
                {
                    Receipt(_indexes[i], accepted, results[i]);
                }
            }

            Events.Clear();
            _indexes.Clear();
        }

        /// <summary>None of the events was taken, and nothing after them shall be.</summary>
        internal void Leave()
        {
            _isLeft = true;
            _index = _indexes[0];
            Events.Clear();
            _indexes.Clear();
        }

        internal void WriteEnd(ItemKind last)
        {
            var problem = last switch
            {
                // Whatever was read behind them: the end of a body whose length is known comes together with its last events.
                _ when _isLeft => NdjsonAnswer.Stopped(_index),
                ItemKind.End => null,
                ItemKind.Malformed => new Problem(ProblemCatalogue.MalformedBody, $"The array breaks off after element {_index}."),
                _ when Answer.IsFull => NdjsonAnswer.TooManyRefusals(_index),
                _ => Body.Left(_index),
            };
            Answer.WriteEnd(problem, json =>
            {
                json.WriteNumber("accepted", _accepted);
                json.WriteNumber("duplicates", _duplicates);
            });
        }

        private void Count(AcceptStatus status)
        {
            if (status == AcceptStatus.Duplicate)
            {
                _duplicates++;
            }
            else if (++_accepted % CountEvery == 0)
            {
                Answer.WriteLine(json => json.WriteNumber("accepted", _accepted));
            }
        }

        private void Receipt(long index, Event accepted, AcceptResult result) => Answer.WriteLine(json =>
        {
            json.WriteNumber("index", index);
            EventAnswers.WriteMembers(json, accepted, result);
        });
    }
}
