namespace Pnh.Channels.Net.Http2;

/// <summary>
/// The requests of a connection and what the peer allows: who waits, who has a stream, how much may be sent. Not thread-safe: the connection's
/// lock guards it.
/// </summary>
internal sealed class Http2Streams
{
    /// <summary>Window of a new connection, and of a stream until SETTINGS (RFC 9113 section 6.9.2).</summary>
    public const int DefaultWindow = 65_535;

    private readonly Dictionary<int, Http2Exchange> _byStream = [];
    private readonly List<Http2Exchange> _blocked = [];
    private ExchangeList _waiting;
    private ExchangeList _underWay;
    private Http2Exchange? _free;
    private int _nextStream;
    private int _initialWindow = DefaultWindow;

    public Http2Streams(Http2Limits limits)
    {
        _nextStream = limits.FirstStream;
    }

    public int Waiting => _waiting.Count;

    public int UnderWay => _underWay.Count;

    /// <summary>Streams at once: the peer's SETTINGS_MAX_CONCURRENT_STREAMS; 0 until they have come, <see cref="uint.MaxValue"/> = it set none.</summary>
    public uint Limit { get; set; }

    /// <summary>What the peer's connection window still allows.</summary>
    public int SendWindow { get; private set; } = DefaultWindow;

    /// <summary>The stream ids are used up: 2^30 requests.</summary>
    public bool IsExhausted => _nextStream < 0;

    /// <summary>Some part of a body waits, and there is window for it.</summary>
    public bool CanGoOn
    {
        get
        {
            if (SendWindow > 0)
            {
                foreach (var exchange in _blocked)
                {
                    if (exchange.SendWindow > 0)
                    {
                        return true;
                    }
                }
            }

            return false;
        }
    }

    /// <summary>
    /// The next request may have a stream. Not while the connection's window is used up: a request whose body cannot follow is better not begun.
    /// </summary>
    public bool CanStart => _waiting.Count > 0 && _underWay.Count < Limit && SendWindow > 0 && !IsExhausted;

    public Http2Exchange? FirstWaiting => _waiting.First;

    public Http2Exchange? FirstUnderWay => _underWay.First;

    public bool IsIdle(int stream) => !IsExhausted && stream >= _nextStream;

    public Http2Exchange? Find(int stream) => _byStream.GetValueOrDefault(stream);

    public Http2Exchange Rent(Http2Connection connection)
    {
        var exchange = _free ?? new Http2Exchange(connection);
        _free = exchange.Next;
        return exchange;
    }

    public void Return(Http2Exchange exchange)
    {
        exchange.Next = _free;
        _free = exchange;
    }

    public void Wait(Http2Exchange exchange) => _waiting.Add(exchange);

    /// <summary>Gives the next waiting request its stream. <see cref="CanStart"/> said so.</summary>
    public Http2Exchange Start()
    {
        var exchange = _waiting.First!;
        _waiting.Remove(exchange);
        _underWay.Add(exchange);
        exchange.State = ExchangeState.Writing;
        exchange.Stream = _nextStream;
        exchange.SendWindow = _initialWindow;
        _byStream.Add(_nextStream, exchange);

        // The last id is 2^31-1; the one after it is below zero.
        _nextStream = unchecked(_nextStream + 2);
        return exchange;
    }

    /// <summary>Moves those that may go on to <paramref name="ready"/>.</summary>
    public void TakeUnblocked(List<WriteItem> ready)
    {
        var kept = 0;
        for (var i = 0; i < _blocked.Count; i++)
        {
            var exchange = _blocked[i];
            if (SendWindow > 0 && exchange.SendWindow > 0)
            {
                exchange.IsBlocked = false;
                exchange.State = ExchangeState.Writing;
                ready.Add(Charge(exchange));
            }
            else
            {
                _blocked[kept++] = exchange;
            }
        }

        _blocked.RemoveRange(kept, _blocked.Count - kept);
    }

    /// <summary>Takes as much of both windows as the body's rest needs.</summary>
    public WriteItem Charge(Http2Exchange exchange)
    {
        var offset = exchange.BodySent;
        var count = Math.Max(0, Math.Min(exchange.BodyLength - offset, Math.Min(SendWindow, exchange.SendWindow)));
        SendWindow -= count;
        exchange.SendWindow -= count;
        exchange.BodySent += count;
        return new WriteItem(exchange, offset, count);
    }

    public void Block(Http2Exchange exchange)
    {
        exchange.IsBlocked = true;
        _blocked.Add(exchange);
    }

    /// <summary>It has ended: takes it out of wherever it is.</summary>
    public void Remove(Http2Exchange exchange)
    {
        if (exchange.State == ExchangeState.Waiting)
        {
            _waiting.Remove(exchange);
        }
        else
        {
            _underWay.Remove(exchange);
            _byStream.Remove(exchange.Stream);
            if (exchange.IsBlocked)
            {
                _blocked.Remove(exchange);
            }
        }

        exchange.State = ExchangeState.Done;
    }

    /// <summary>False when the window grows beyond 2^31-1.</summary>
    public bool TryWiden(int increment)
    {
        var window = (long)SendWindow + increment;
        SendWindow = (int)Math.Min(window, int.MaxValue);
        return window <= int.MaxValue;
    }

    /// <summary>SETTINGS_INITIAL_WINDOW_SIZE: every stream's window moves by the difference, below zero too (RFC 9113 section 6.9.2).</summary>
    public bool TryChangeInitialWindow(int window)
    {
        var difference = window - _initialWindow;
        _initialWindow = window;
        for (var exchange = _underWay.First; exchange is not null; exchange = exchange.Next)
        {
            var changed = (long)exchange.SendWindow + difference;
            if (changed > int.MaxValue)
            {
                return false;
            }

            exchange.SendWindow = (int)changed;
        }

        return true;
    }
}

/// <summary>A part of a request for the writer: its headers when <paramref name="Offset"/> is 0 and they are not sent yet, and bytes of its body.</summary>
internal readonly record struct WriteItem(Http2Exchange Exchange, int Offset, int Count);
