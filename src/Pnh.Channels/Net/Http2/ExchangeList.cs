namespace Pnh.Channels.Net.Http2;

/// <summary>A queue from which any member can be taken, linked through the members themselves. Not thread-safe.</summary>
internal struct ExchangeList
{
    private Http2Exchange? _last;

    public Http2Exchange? First { get; private set; }

    public int Count { get; private set; }

    public void Add(Http2Exchange exchange)
    {
        exchange.Previous = _last;
        exchange.Next = null;
        if (_last is null)
        {
            First = exchange;
        }
        else
        {
            _last.Next = exchange;
        }

        _last = exchange;
        Count++;
    }

    public void Remove(Http2Exchange exchange)
    {
        if (exchange.Previous is null)
        {
            First = exchange.Next;
        }
        else
        {
            exchange.Previous.Next = exchange.Next;
        }

        if (exchange.Next is null)
        {
            _last = exchange.Previous;
        }
        else
        {
            exchange.Next.Previous = exchange.Previous;
        }

        exchange.Next = exchange.Previous = null;
        Count--;
    }
}
