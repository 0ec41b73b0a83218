using System.Collections;

namespace Pnh.Core.Sessions;

/// <summary>The sessions of a user. Nearly all users have one, which costs no array.</summary>
internal sealed class SessionList : IReadOnlyList<LiveSession>
{
    /// <summary>None, for ever.</summary>
    public static readonly IReadOnlyList<LiveSession> None = [];

    // One of the two is null, or both.
    private LiveSession? _only;
    private List<LiveSession>? _several;

    /// <inheritdoc/>
    public int Count => _several?.Count ?? (_only is null ? 0 : 1);

    /// <inheritdoc cref="IReadOnlyList{T}.this"/>
    public LiveSession this[int index]
    {
        get => _several is null ? _only is not null && index == 0 ? _only : throw new ArgumentOutOfRangeException(nameof(index)) : _several[index];
        set
        {
            if (_several is not null)
            {
                _several[index] = value;
                return;
            }

            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual((uint)index, (uint)Count, nameof(index));
            _only = value;
        }
    }

    /// <summary>Adds one at the end.</summary>
    public void Add(LiveSession session)
    {
        if (Count == 0)
        {
            _only = session;
            return;
        }

        if (_only is not null)
        {
            (_several, _only) = ([_only], null);
        }

        _several!.Add(session);
    }

    /// <summary>Takes one out; those behind it move up.</summary>
    public void RemoveAt(int index)
    {
        if (_several is null)
        {
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual((uint)index, (uint)Count, nameof(index));
            _only = null;
            return;
        }

        _several.RemoveAt(index);
        if (_several.Count == 1)
        {
            (_only, _several) = (_several[0], null);
        }
    }

    /// <inheritdoc/>
    public IEnumerator<LiveSession> GetEnumerator()
    {
        for (var i = 0; i < Count; i++)
        {
            yield return this[i];
        }
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}
