using System.Buffers.Binary;
using System.Net;
using Pnh.LoadTest.Integrity;

namespace Pnh.LoadTest.Wire;

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
        _server = new IPEndPoint(IPAddress.Parse(options.Host), options.Port);
        _from = options.Share > 0 && IPAddress.IsLoopback(_server.Address) ? IPAddress.Parse(FormattableString.Invariant($"127.0.0.{options.Share + 1}")) : null;
    }

    public Loop Loop { get; }

    public Arrivals Arrivals { get; }

    public List<Session> Sessions { get; } = [];

    /// <summary>Sessions that the server closed, or that broke, since the start.</summary>
    public int Dropped { get; private set; }

    /// <summary>Attempts to open that failed and were repeated.</summary>
    public int Failed { get; private set; }

    /// <summary>Code of the last close frame; 0 = none came.</summary>
    public int LastCloseCode { get; private set; }

    /// <summary>Opens these, so many at a time; throws when they are not all open after a minute.</summary>
    public void Open(IReadOnlyList<Session> sessions)
    {
        var next = 0;
        var open = _opening = 0;
        var done = Loop.Run(60, () =>
        {
            while (_opening < _options.Connecting && next < sessions.Count)
            {
                _opening++;
                sessions[next++].Open(_server, _from);
            }

            open = next - _opening;
            return next == sessions.Count && _opening == 0;
        });
        if (!done)
        {
            throw new InvalidOperationException(FormattableString.Invariant($"only {open} of {sessions.Count} sessions opened in a minute; {Failed} attempts failed, last close code {LastCloseCode}"));
        }
    }

    internal void Opened() => _opening--;

    internal void Closing(ReadOnlySpan<byte> payload) => LastCloseCode = payload.Length >= 2 ? BinaryPrimitives.ReadUInt16BigEndian(payload) : 0;

    internal void Lost(Session session, bool wasReady)
    {
        if (wasReady)
        {
            Dropped++;
            return;
        }

        // The port was busy, or the server at its bound: once more, with an end.
        if (++Failed > 1000)
        {
            throw new InvalidOperationException(FormattableString.Invariant($"sessions do not open; last close code {LastCloseCode}"));
        }

        session.Open(_server, _from);
    }
}
