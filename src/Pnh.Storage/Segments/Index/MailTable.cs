namespace Pnh.Storage.Segments.Index;

/// <summary>
/// Which events rest for which device: 16 bytes for each, 20 with a collapse key, and some 24 for a device that has any. Events and devices are the hashes of their names, so that moving an event changes nothing here; who
/// reads has to look whether the event still rests. Changes come from one thread, and count from <see cref="Keep"/> on; all else is thread-safe.
/// </summary>
internal sealed class MailTable
{
    private const int Shelves = 64;
    private const int ShelfShift = 58;

    private readonly Shelf[] _shelves = new Shelf[Shelves];
    private readonly List<(ulong Device, ulong Event, uint End, uint Key)> _changes = [];

    public MailTable()
    {
        for (var i = 0; i < Shelves; i++)
        {
            _shelves[i] = new Shelf();
        }
    }

    /// <summary>A time in whole seconds since 2026, rounded up: what is over is found a second late at most.</summary>
    public static uint SecondsOf(DateTimeOffset time) =>
        (uint)Math.Clamp((long)Math.Ceiling((time - new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero)).TotalSeconds), 1, uint.MaxValue);

    /// <summary>The event rests for the device until then; a newer one of that key takes its place. 0 = it has no key.</summary>
    public void Add(ulong device, ulong @event, uint end, uint key) => _changes.Add((device, @event, end, key));

    /// <summary>It does not rest for it any more.</summary>
    public void Remove(ulong device, ulong @event) => _changes.Add((device, @event, 0, 0));

    /// <summary>The changes stand: their records are on stable storage.</summary>
    public void Keep()
    {
        foreach (var (device, @event, end, key) in _changes)
        {
            Put(device, @event, end, key);
        }

        _changes.Clear();
    }

    /// <summary>They do not.</summary>
    public void TakeBack() => _changes.Clear();

    /// <summary>The same at once: an end of 0 = it does not rest for the device.</summary>
    public void Put(ulong device, ulong @event, uint end, uint key = 0) => _shelves[device >> ShelfShift].Put((uint)device, @event, end, key);

    /// <summary>How many deliveries rest.</summary>
    public long Total => _shelves.Sum(static shelf => (long)shelf.Total);

    /// <summary>How many events may rest for the device.</summary>
    public int Count(ulong device) => _shelves[device >> ShelfShift].Count((uint)device);

    /// <summary>True when the event rests for the device, as far as their hashes tell.</summary>
    public bool Has(ulong device, ulong @event) => _shelves[device >> ShelfShift].Has((uint)device, @event);

    /// <summary>True when one of that key may rest for the device.</summary>
    public bool Has(ulong device, uint key) => _shelves[device >> ShelfShift].HasKey((uint)device, key);

    /// <summary>Events that may rest for the device, those of a key or (0) all, in no order.</summary>
    public List<ulong> Find(ulong device, uint key = 0) => _shelves[device >> ShelfShift].Find((uint)device, key);

    /// <summary>Takes out what is over then, <paramref name="most"/> at most, with keys of devices that are as good as their hashes here.</summary>
    public List<(ulong Device, ulong Event)> TakeOver(uint until, int most)
    {
        var over = new List<(ulong Device, ulong Event)>();
        for (var i = 0; i < Shelves; i++)
        {
            _shelves[i].TakeOver((ulong)i << ShelfShift, until, most, over);
        }

        return over;
    }

    /// <summary>Of a device's hash what is known here.</summary>
    public static ulong KeyOf(ulong device) => (device >> ShelfShift << ShelfShift) | (uint)device;

    /// <summary>Some of the devices, with a list of events for each.</summary>
    private sealed class Shelf
    {
        // What is added never moves: no copy of all of it while a group waits.
        private const int Chunk = 4_096;

        private readonly Lock _gate = new();
        private readonly Dictionary<uint, int> _first = [];
        private readonly List<Place[]> _chunks = [];
        private readonly List<uint[]?> _keys = []; // null = nobody in that chunk has one
        private int _used = 1; // 0 = none
        private int _free;
        private uint _nextEnd = uint.MaxValue;
        private int _total;

        public int Total => Volatile.Read(ref _total);

        public int Count(uint device)
        {
            var count = 0;
            lock (_gate)
            {
                for (var at = _first.GetValueOrDefault(device); at != 0; at = At(at).Next)
                {
                    count++;
                }
            }

            return count;
        }

        public bool Has(uint device, ulong @event)
        {
            lock (_gate)
            {
                return Seek(device, @event).At != 0;
            }
        }

        public bool HasKey(uint device, uint key)
        {
            lock (_gate)
            {
                var at = _first.GetValueOrDefault(device);
                while (at != 0 && KeyAt(at) != key)
                {
                    at = At(at).Next;
                }

                return at != 0;
            }
        }

        public List<ulong> Find(uint device, uint key)
        {
            var found = new List<ulong>();
            lock (_gate)
            {
                for (var at = _first.GetValueOrDefault(device); at != 0; at = At(at).Next)
                {
                    if (key == 0 || KeyAt(at) == key)
                    {
                        found.Add(At(at).Event);
                    }
                }
            }

            return found;
        }

        public void Put(uint device, ulong @event, uint end, uint key)
        {
            lock (_gate)
            {
                Remove(device, @event);
                if (end == 0)
                {
                    return;
                }

                var at = Rent();
                At(at) = new Place { Event = @event, End = end, Next = _first.GetValueOrDefault(device) };
                _first[device] = at;
                SetKey(at, key);
                _total++;
                _nextEnd = Math.Min(_nextEnd, end);
            }
        }

        public void TakeOver(ulong shelf, uint until, int most, List<(ulong Device, ulong Event)> over)
        {
            lock (_gate)
            {
                if (_nextEnd > until || over.Count >= most)
                {
                    return;
                }

                _nextEnd = uint.MaxValue;
                var from = over.Count;
                foreach (var (device, first) in _first)
                {
                    for (var at = first; at != 0; at = At(at).Next)
                    {
                        if (At(at).End <= until && over.Count < most)
                        {
                            over.Add((shelf | device, At(at).Event));
                        }
                        else
                        {
                            _nextEnd = Math.Min(_nextEnd, At(at).End);
                        }
                    }
                }

                for (var i = from; i < over.Count; i++)
                {
                    Remove((uint)over[i].Device, over[i].Event);
                }
            }
        }

        private void Remove(uint device, ulong @event)
        {
            var (before, at) = Seek(device, @event);
            if (at == 0)
            {
                return;
            }

            var next = At(at).Next;
            if (before != 0)
            {
                At(before).Next = next;
            }
            else if (next != 0)
            {
                _first[device] = next;
            }
            else
            {
                _first.Remove(device);
            }

            At(at) = new Place { Next = _free };
            SetKey(at, 0);
            _free = at;
            _total--;
        }

        // 0 = it is not there, or the first.
        private (int Before, int At) Seek(uint device, ulong @event)
        {
            var (before, at) = (0, _first.GetValueOrDefault(device));
            while (at != 0 && At(at).Event != @event)
            {
                (before, at) = (at, At(at).Next);
            }

            return (before, at);
        }

        private int Rent()
        {
            if (_free != 0)
            {
                var free = _free;
                _free = At(free).Next;
                return free;
            }

            if (_used / Chunk == _chunks.Count)
            {
                _chunks.Add(new Place[Chunk]);
                _keys.Add(null);
            }

            return _used++;
        }

        private uint KeyAt(int at) => _keys[at / Chunk] is { } keys ? keys[at % Chunk] : 0;

        private void SetKey(int at, uint key)
        {
            if (key != 0 || _keys[at / Chunk] is not null)
            {
                (_keys[at / Chunk] ??= new uint[Chunk])[at % Chunk] = key;
            }
        }

        private ref Place At(int at) => ref _chunks[at / Chunk][at % Chunk];
    }

    private struct Place
    {
        public ulong Event;
        public uint End;
        public int Next;
    }
}
