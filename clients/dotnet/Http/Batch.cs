using System.Net.Http.Headers;
using System.Text.Json;
using Pnh.Client.Reports;

namespace Pnh.Client.Http;

/// <summary>Many events of one call: which have their answer, and which go again. One caller at a time.</summary>
internal sealed class Batch(IReadOnlyList<byte[]> events)
{
    // HTTP/1.1 of .NET reads nothing of an answer before all is sent: the hub's lines have to fit into the buffers between.
    private const int MostAtOnce = 1_000;
    private readonly PnhAnswer?[] _answers = new PnhAnswer?[events.Count];

    /// <summary>Complete once <see cref="IsComplete"/>.</summary>
    public IReadOnlyList<PnhAnswer> Answers => _answers!;

    /// <summary>True when each event has its answer.</summary>
    public bool IsComplete => Array.TrueForAll(_answers, static one => one is not null);

    /// <summary>Sends some of what has no answer yet. False = not all of it got one: to go on after the attempts' wait.</summary>
    public async Task<bool> TrySendAsync(HubRequests requests, HubRequests.Attempts attempts, CancellationToken cancellationToken)
    {
        int[] open = [.. Enumerable.Range(0, events.Count).Where(index => _answers[index] is null).Take(MostAtOnce)];
        PnhException? refusal = null;
        try
        {
            using var body = new EventLines(open.Select(index => events[index]));
            using var answer = await requests.OpenAsync(HttpMethod.Post, "/v1/events?receipts=all", body, cancellationToken).ConfigureAwait(false);
            using var lines = new StreamReader(await answer.Content.ReadAsStreamAsync(cancellationToken).ConfigureAwait(false));
            while (await lines.ReadLineAsync(cancellationToken).ConfigureAwait(false) is { } line)
            {
                refusal = Take(JsonSerializer.Deserialize(line, PnhJson.Default.BatchLine)!, open) ?? refusal;
            }
        }
        catch (PnhException problem) when (HubProblem.IsForNowStatus(problem.Status))
        {
            refusal = problem;
        }
        catch (Exception fault) when (HubRequests.IsNoAnswer(fault, cancellationToken))
        {
            attempts.NextOrThrow(fault);
            return false;
        }

        if (Array.TrueForAll(open, index => _answers[index] is not null))
        {
            attempts.Succeeded();
            return true;
        }

        return attempts.TryNext(null) ? false : throw refusal ?? new PnhException(0, PnhException.Unreachable, "The hub's answer ended early.");
    }

    // What the hub says of an event that it may take later; null = nothing, or it is answered.
    private PnhException? Take(BatchLine line, int[] open)
    {
        if (line.Problem is { IsForNow: true } later)
        {
            return later.ToException();
        }

        if (line.Index is { } at && line.Done is null && (uint)at < (uint)open.Length)
        {
            _answers[open[at]] = line.Problem is { } problem
                ? new PnhAnswer(null, problem.ToException())
                : new PnhAnswer(new PnhReceipt(line.Id ?? "", line.Durable ?? false, line.Duplicate ?? false, line.Devices), null);
        }

        return null;
    }

    /// <summary>A line an event, as it is asked for.</summary>
    private sealed class EventLines : HttpContent
    {
        private static readonly byte[] End = [(byte)'\n'];
        private readonly IEnumerable<byte[]> _events;

        public EventLines(IEnumerable<byte[]> events)
        {
            _events = events;
            Headers.ContentType = new MediaTypeHeaderValue("application/x-ndjson");
        }

        protected override Task SerializeToStreamAsync(Stream stream, System.Net.TransportContext? context) => SerializeToStreamAsync(stream, context, CancellationToken.None);

        protected override async Task SerializeToStreamAsync(Stream stream, System.Net.TransportContext? context, CancellationToken cancellationToken)
        {
            foreach (var one in _events)
            {
                await stream.WriteAsync(one, cancellationToken).ConfigureAwait(false);
                await stream.WriteAsync(End, cancellationToken).ConfigureAwait(false);
            }
        }

        protected override bool TryComputeLength(out long length)
        {
            length = 0;
            return false;
        }
    }
}
