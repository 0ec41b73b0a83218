using System.Buffers.Binary;
using System.Diagnostics;
using System.Net;
using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Options;
using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Clients;

/// <summary>All sessions of the run.</summary>
internal sealed class Fleet
{
    private readonly BenchOptions _options;
    private readonly IPEndPoint _server;
    private readonly IPAddress? _from;
    private int _opening;

    public Fleet(BenchOptions options, Loop loop, Arrivals arrivals)
    {
        _options = options;
        Loop = loop;
        Arrivals = arrivals;
        Contents = new Contents(options);
        _server = new IPEndPoint(IPAddress.Parse(options.Host), options.SocketPort);
        _from = options.Share > 0 && IPAddress.IsLoopback(_server.Address) ? IPAddress.Parse(FormattableString.Invariant($"127.0.0.{options.Share + 1}")) : null;
    }

    public Loop Loop { get; }

    public Arrivals Arrivals { get; }

    public Contents Contents { get; }

    public List<ClientSession> Sessions { get; } = [];

    /// <summary>Sessions that the server closed, or that broke, since the start.</summary>
    public int Dropped { get; private set; }

    /// <summary>Attempts to open that failed and were repeated.</summary>
    public int Failed { get; private set; }

    /// <summary>Code of the last close frame; 0 = none came.</summary>
    public int LastCloseCode { get; private set; }

    /// <summary>Opens these, so many at a time; throws when none opens for half a minute.</summary>
    public void Open(IReadOnlyList<ClientSession> sessions)
    {
        var next = 0;
        var (open, since) = (_opening = 0, Stopwatch.GetTimestamp());
        Loop.Run(600, () =>
        {
            if (next - _opening > open)
            {
                (open, since) = (next - _opening, Stopwatch.GetTimestamp());
            }

            while (_opening < _options.Connecting && next < sessions.Count)
            {
                _opening++;
                sessions[next++].Open(_server, _from);
            }

            return (next == sessions.Count && _opening == 0) || Stopwatch.GetElapsedTime(since).TotalSeconds > 30;
        });
        if (_opening > 0)
        {
            throw new InvalidOperationException(FormattableString.Invariant($"only {open} of {sessions.Count} sessions opened; {Failed} attempts failed, last close code {LastCloseCode}"));
        }
    }

    internal void Opened() => _opening--;

    internal void Closing(ReadOnlySpan<byte> payload) => LastCloseCode = payload.Length >= 2 ? BinaryPrimitives.ReadUInt16BigEndian(payload) : 0;

    internal void Lost(ClientSession session, bool wasReady)
    {
        if (wasReady)
        {
            Dropped++;
            return;
        }

        // The port was busy, or the server at its bound: once more, with an end.
        if (++Failed > 1000)
        {
            throw new InvalidOperationException(FormattableString.Invariant($"sessions do not open at {_server}: is the hub running there? Last close code {LastCloseCode}"));
        }

        session.Open(_server, _from);
    }
}
