using System.Diagnostics;
using System.Net;
using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Measure;
using Pnh.LoadTest.Options;
using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Load;

/// <summary>
/// Keep-alive publishers. A stream always goes over the same connection, one POST after the other: order is promised for what was accepted in order, and only
/// so can it be checked. What is due while its connection is busy waits, and its latency counts from when it was due.
/// </summary>
internal sealed class Publishers
{
    private readonly MessageLedger _ledger;
    private readonly Contents _contents;
    private readonly PostConnection[] _all;
    private readonly Queue<(Template Template, Posted Posted)>[] _waiting;

    public Publishers(BenchOptions options, Loop loop, MessageLedger ledger)
    {
        _ledger = ledger;
        _contents = new Contents(options);
        var server = new IPEndPoint(IPAddress.Parse(options.Host), options.Port);
        _all = [.. Enumerable.Range(0, options.Publishers).Select(index => new PostConnection(loop, server, index, Answer))];
        _waiting = [.. _all.Select(static _ => new Queue<(Template, Posted)>())];
    }

    public int Count => _all.Length;

    public long Accepted { get; private set; }

    /// <summary>429 and 503.</summary>
    public long Refused { get; private set; }

    /// <summary>No answer, or another status.</summary>
    public long Broken { get; private set; }

    /// <summary>Answers that took another event than theirs.</summary>
    public long Mismatched { get; private set; }

    /// <summary>The last status of <see cref="Broken"/>; 0 = no answer.</summary>
    public int LastStatus { get; private set; }

    /// <summary>From due to answer.</summary>
    public LatencyHistogram Answers { get; private set; } = new();

    /// <summary>Asked by a publisher that has nothing to do for its next event; null = nothing endless goes on.</summary>
    public Func<int, (Template Template, int Stream)>? Endless { get; set; }

    /// <summary>Nothing waits, nothing is in flight.</summary>
    public bool IsQuiet => Array.TrueForAll(_all, connection => !connection.IsBusy && _waiting[connection.Index].Count == 0);

    /// <summary>An event is due.</summary>
    public void Post(Template template, int stream, long due)
    {
        var connection = _all[stream % _all.Length];
        var posted = new Posted(stream, _ledger.Next(stream), due, template.HasId);
        if (connection.IsBusy)
        {
            _waiting[connection.Index].Enqueue((template, posted));
        }
        else
        {
            connection.Post(template, posted);
        }
    }

    /// <summary>Sets <see cref="Endless"/> going.</summary>
    public void Start()
    {
        foreach (var connection in _all.Where(static connection => !connection.IsBusy))
        {
            Next(connection);
        }
    }

    /// <summary>Counts from here on.</summary>
    public void Restart() => (Accepted, Refused, Broken, Mismatched, Answers) = (0, 0, 0, 0, new LatencyHistogram());

    /// <summary>An event got its answer; 0 = none.</summary>
    public void Book(Posted posted, int status)
    {
        Answers.Add(Stopwatch.GetTimestamp() - posted.Due);
        if (status is >= 200 and < 300)
        {
            Accepted++;
            _ledger.Accept(posted.Stream);
        }
        else if (status is 429 or 503)
        {
            Refused++;
            _ledger.Refuse(posted.Stream, posted.Sequence);
        }
        else
        {
            Broken++;
            LastStatus = status;
            _ledger.Doubt(posted.Stream, posted.Sequence);
        }
    }

    private void Answer(PostConnection connection, Posted posted, int status, ReadOnlySpan<byte> body)
    {
        Book(posted, status);
        Mismatched += status is >= 200 and < 300 && !_contents.Confirms(body, posted) ? 1 : 0;
        Next(connection);
    }

    private void Next(PostConnection connection)
    {
        if (_waiting[connection.Index].TryDequeue(out var waiting))
        {
            connection.Post(waiting.Template, waiting.Posted);
        }
        else if (Endless?.Invoke(connection.Index) is var (template, stream))
        {
            connection.Post(template, new Posted(stream, _ledger.Next(stream), Stopwatch.GetTimestamp(), template.HasId));
        }
    }
}
