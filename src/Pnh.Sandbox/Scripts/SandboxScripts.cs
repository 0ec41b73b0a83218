using System.Collections.Concurrent;

namespace Pnh.Sandbox.Scripts;

/// <summary>The scripts in force, by address: APNs token (any case), FCM token or FID, browser's name, <c>topic:name</c>; <c>*</c> is every other address. Thread-safe.</summary>
public sealed class SandboxScripts
{
    /// <summary>The address of the script for everybody without one.</summary>
    public const string Everyone = "*";

    private readonly ConcurrentDictionary<string, Entry> _entries = new(StringComparer.OrdinalIgnoreCase);
    private readonly TimeProvider _time;

    internal SandboxScripts(TimeProvider time)
    {
        _time = time;
    }

    /// <summary>Those still in force.</summary>
    public IReadOnlyDictionary<string, Script> All => _entries.ToDictionary(entry => entry.Key, entry => entry.Value.Script);

    /// <summary>Sets or replaces the script of an address, and starts its <see cref="Script.Times"/> anew.</summary>
    public void Set(string address, Script script)
    {
        ArgumentException.ThrowIfNullOrEmpty(address);
        ArgumentNullException.ThrowIfNull(script);
        _entries[address] = new Entry(script with { Timestamp = script.Timestamp ?? _time.GetUtcNow() });
    }

    /// <summary>Makes the address healthy; false when it was.</summary>
    public bool Remove(string address) => _entries.TryRemove(address, out _);

    /// <summary>The script for this push, counted, when its <see cref="Script.Delay"/> is over; null for a healthy address.</summary>
    internal async ValueTask<Script?> TakeAsync(string address, CancellationToken cancellationToken)
    {
        Script? script = _entries.IsEmpty ? null : TakeOne(address) ?? TakeOne(Everyone);
        if (script is { Delay.Ticks: > 0 })
        {
            await Task.Delay(script.Delay, _time, cancellationToken);
        }

        return script;
    }

    private Script? TakeOne(string address)
    {
        if (!_entries.TryGetValue(address, out Entry? entry))
        {
            return null;
        }

        if (entry.Script.Times == 0)
        {
            return entry.Script;
        }

        int taken = Interlocked.Increment(ref entry.Taken);
        if (taken >= entry.Script.Times)
        {
            _entries.TryRemove(KeyValuePair.Create(address, entry));
        }

        return taken <= entry.Script.Times ? entry.Script : null;
    }

    private sealed class Entry(Script script)
    {
        public int Taken;

        public Script Script { get; } = script;
    }
}
