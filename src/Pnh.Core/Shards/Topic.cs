using Pnh.Core.Devices;

namespace Pnh.Core.Shards;

/// <summary>The sessions that joined one topic. Joining and leaving cost the same however many there are. Thread-safe.</summary>
internal sealed class Topic(TopicKey key)
{
    private readonly Lock _gate = new();
    private readonly List<TopicPlace> _places = [];
    private Subscriber[]? _read;
    private bool _isGone;

    internal TopicKey Key { get; } = key;

    /// <summary>The place; null = its last subscriber left in between and it is off the table.</summary>
    internal TopicPlace? TryAdd(Subscriber subscriber)
    {
        lock (_gate)
        {
            if (_isGone)
            {
                return null;
            }

            var place = new TopicPlace(this, subscriber) { Index = _places.Count };
            _places.Add(place);
            _read = null;
            return place;
        }
    }

    /// <summary>True when that was the last: the topic is gone.</summary>
    internal bool Remove(TopicPlace place)
    {
        lock (_gate)
        {
            // The last takes the free place, so that nobody else moves.
            var last = _places[^1];
            _places[place.Index] = last;
            last.Index = place.Index;
            _places.RemoveAt(_places.Count - 1);
            _read = null;
            return _isGone = _places.Count == 0;
        }
    }

    /// <summary>All of them now; the array is made once per change and does not change.</summary>
    internal Subscriber[] Read()
    {
        lock (_gate)
        {
            if (_read is null)
            {
                _read = new Subscriber[_places.Count];
                for (var i = 0; i < _read.Length; i++)
                {
                    _read[i] = _places[i].Subscriber;
                }
            }

            return _read;
        }
    }
}
