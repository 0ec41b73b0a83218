namespace Pnh.Storage.Segments.Index;

/// <summary>One of the index's tables: open addressing, linear probing. Thread-safe by its lock, which is held for some 20 ns.</summary>
internal sealed class IndexTable
{
    private readonly Lock _gate = new();
    private IndexEntry[] _slots = new IndexEntry[16];
    private int _count;

    public int Count => Volatile.Read(ref _count);

    /// <summary>The <paramref name="nth"/> entry with this hash; false = there are no more. Nearly always there is at most one.</summary>
    public bool TryFind(ulong hash, int nth, out IndexEntry entry)
    {
        lock (_gate)
        {
            for (var slot = First(hash); !_slots[slot].IsEmpty; slot = Next(slot))
            {
                if (_slots[slot].Hash == hash && nth-- == 0)
                {
                    entry = _slots[slot];
                    return true;
                }
            }
        }

        entry = default;
        return false;
    }

    /// <summary>The entry with this hash. False = there is none (then it is empty), or more than one.</summary>
    public bool TryFindOnly(ulong hash, out IndexEntry entry)
    {
        entry = default;
        lock (_gate)
        {
            for (var slot = First(hash); !_slots[slot].IsEmpty; slot = Next(slot))
            {
                if (_slots[slot].Hash != hash)
                {
                    continue;
                }

                if (!entry.IsEmpty)
                {
                    return false;
                }

                entry = _slots[slot];
            }
        }

        return !entry.IsEmpty;
    }

    /// <summary>A look for this hash is about to follow. By the thread that changes the table.</summary>
    public void Prefetch(ulong hash) => Core.Threads.Prefetch.Item(in _slots[First(hash)]);

    public void Add(in IndexEntry entry)
    {
        lock (_gate)
        {
            if (4 * (_count + 1) > 3 * _slots.Length)
            {
                Grow();
            }

            Insert(entry);
            _count++;
        }
    }

    /// <summary>Puts <paramref name="entry"/> in the place of the one with its hash and that root.</summary>
    public void Replace(long root, in IndexEntry entry)
    {
        lock (_gate)
        {
            var slot = SlotOf(entry.Hash, root);
            if (slot >= 0)
            {
                _slots[slot] = entry;
            }
        }
    }

    public void Remove(ulong hash, long root)
    {
        lock (_gate)
        {
            var hole = SlotOf(hash, root);
            if (hole < 0)
            {
                return;
            }

            _count--;
            _slots[hole] = default;
            for (var slot = Next(hole); !_slots[slot].IsEmpty; slot = Next(slot))
            {
                // What probing brought past the hole moves back, or would not be found any more.
                var home = First(_slots[slot].Hash);
                if (((slot - home) & (_slots.Length - 1)) >= ((slot - hole) & (_slots.Length - 1)))
                {
                    _slots[hole] = _slots[slot];
                    _slots[slot] = default;
                    hole = slot;
                }
            }
        }
    }

    /// <summary>Adds the roots of all unfinished events.</summary>
    public void CopyOpen(List<IndexEntry> to)
    {
        lock (_gate)
        {
            foreach (ref readonly var entry in _slots.AsSpan())
            {
                if (entry is { IsEmpty: false, IsFinished: false, IsRested: false })
                {
                    to.Add(entry);
                }
            }
        }
    }

    // The upper bits chose the table.
    private int First(ulong hash) => (int)hash & (_slots.Length - 1);

    private int Next(int slot) => (slot + 1) & (_slots.Length - 1);

    private int SlotOf(ulong hash, long root)
    {
        for (var slot = First(hash); !_slots[slot].IsEmpty; slot = Next(slot))
        {
            if (_slots[slot].Hash == hash && _slots[slot].Root == root)
            {
                return slot;
            }
        }

        return -1;
    }

    private void Insert(in IndexEntry entry)
    {
        var slot = First(entry.Hash);
        while (!_slots[slot].IsEmpty)
        {
            slot = Next(slot);
        }

        _slots[slot] = entry;
    }

    private void Grow()
    {
        var old = _slots;
        _slots = new IndexEntry[2 * old.Length];
        foreach (ref readonly var entry in old.AsSpan())
        {
            if (!entry.IsEmpty)
            {
                Insert(entry);
            }
        }
    }
}
