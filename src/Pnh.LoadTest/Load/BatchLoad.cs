using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Text;
using System.Text.RegularExpressions;
using Pnh.LoadTest.Clients;
using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Options;
using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Load;

/// <summary>NDJSON uploads to PNH, one after the other on a few connections; each connection has users of its own, so that their order is known.</summary>
internal sealed partial class BatchLoad : ILoad
{
    private const int Connections = 2;
    private const int Lines = 500;
    private readonly int _users;
    private readonly MessageLedger _ledger;
    private readonly Publishers _books;
    private readonly Random _random = new(20_261_121);
    private readonly Template _line;
    private readonly byte[] _request;
    private readonly int _head;
    private readonly PostConnection[] _all;
    private readonly Posted[][] _inFlight;
    private bool _goesOn;

    public BatchLoad(BenchOptions options, PnhPeer peer, Loop loop, MessageLedger ledger, Publishers books, int users)
    {
        (_users, _ledger, _books) = (users, ledger, books);
        _line = new Template(peer.Event(toTopic: false, options.Class) + "\n");
        var head = Encoding.ASCII.GetBytes(FormattableString.Invariant(
            $"POST /v1/events HTTP/1.1\r\nHost: {options.Host}:{options.Port}\r\nAuthorization: Bearer {options.Key}\r\nContent-Type: application/x-ndjson\r\nContent-Length: {_line.Length * Lines}\r\n\r\n"));
        _head = head.Length;
        _request = [.. head, .. new byte[_line.Length * Lines]];
        var server = new IPEndPoint(IPAddress.Parse(options.Host), options.Port);
        _inFlight = [.. Enumerable.Range(0, Connections).Select(static _ => new Posted[Lines])];
        _all = [.. Enumerable.Range(0, Connections).Select(index => new PostConnection(loop, server, index, Answer))];
    }

    public bool IsQuiet => !Array.Exists(_all, static connection => connection.IsBusy);

    public void Start()
    {
        _goesOn = true;
        foreach (var connection in _all)
        {
            Next(connection);
        }
    }

    public void Stop() => _goesOn = false;

    private void Next(PostConnection connection)
    {
        var now = Stopwatch.GetTimestamp();
        var batch = _inFlight[connection.Index];
        for (var i = 0; i < Lines; i++)
        {
            var stream = connection.Index + (Connections * _random.Next(_users / Connections));
            batch[i] = new Posted(stream, _ledger.Next(stream), now);
            _line.Write(_request.AsSpan(_head + (i * _line.Length), _line.Length), stream, batch[i].Sequence, now);
        }

        connection.Post(_request, batch[0]);
    }

    private void Answer(PostConnection connection, Posted first, int status, ReadOnlySpan<byte> body)
    {
        var refused = status == 207 ? Refused(body) : null;
        for (var i = 0; i < Lines; i++)
        {
            _books.Book(_inFlight[connection.Index][i], refused is null ? status : refused.Contains(i) ? 429 : 202);
        }

        if (_goesOn)
        {
            Next(connection);
        }
    }

    // A refused line has an index and a problem; the others are counts.
    private static HashSet<int> Refused(ReadOnlySpan<byte> body)
    {
        var text = Encoding.UTF8.GetString(body);
        return text.Contains("\"refused\":0", StringComparison.Ordinal)
            ? []
            : [.. Index().Matches(text).Select(static match => int.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture))];
    }

    [GeneratedRegex("\"index\":(\\d+)")]
    private static partial Regex Index();
}
