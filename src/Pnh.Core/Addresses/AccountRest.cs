using Pnh.Core.Push;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Addresses;

/// <summary>One account's answers, and the addresses of it that rest. Thread-safe.</summary>
internal sealed class AccountRest(TimeProvider time)
{
    private readonly Lock _lock = new();
    private readonly AccountAnswers _answers = new(time);
    private readonly Dictionary<(UserKey User, string Device, string Kind), RestingAddress> _resting = [];
    private RestingAddress? _oldest;
    private long? _probedAt;
    private volatile bool _isAny;
    private long _rested;

    /// <summary>Whether any rests: asked before each push.</summary>
    public bool IsAny => _isAny;

    /// <summary>How many were laid to rest since the start.</summary>
    public long Rested => Volatile.Read(ref _rested);

    public (int All, int Bad) LastMinute
    {
        get
        {
            lock (_lock)
            {
                return _answers.LastMinute;
            }
        }
    }

    public (int Count, string? Reason, DateTimeOffset Since) Read()
    {
        lock (_lock)
        {
            return (_resting.Count, _oldest?.Reason, _oldest?.At ?? default);
        }
    }

    public void Rest(RestingAddress resting)
    {
        lock (_lock)
        {
            Add(resting);
        }
    }

    public IReadOnlyCollection<RestingAddress> TakeAll()
    {
        lock (_lock)
        {
            RestingAddress[] all = [.. _resting.Values];
            _resting.Clear();
            _oldest = null;
            _isAny = false;
            return all;
        }
    }

    /// <summary>True = its address rests and none may look yet; false lets it be sent, and if it rests, it is the one that looks.</summary>
    public bool Holds(Delivery delivery, TimeSpan probeEvery)
    {
        lock (_lock)
        {
            if (!Rests(delivery))
            {
                return false;
            }

            if (_probedAt is { } last && time.GetElapsedTime(last) < probeEvery)
            {
                return true;
            }

            _probedAt = time.GetTimestamp();
            return false;
        }
    }

    /// <summary>An answer that is no refusal of the address; true = it was taken, and the address rested.</summary>
    public bool Count(Delivery delivery, bool isAccepted)
    {
        lock (_lock)
        {
            _answers.Count(isAccepted);
            return isAccepted && _isAny && Rests(delivery);
        }
    }

    /// <summary>A refusal of the address by a word that may be the account's fault; true = the address rests.</summary>
    /// <param name="resting">As it would rest.</param>
    /// <param name="isFirst">No other did.</param>
    /// <param name="isNew">This one did not.</param>
    public bool CountBad(RestingAddress resting, out bool isFirst, out bool isNew)
    {
        lock (_lock)
        {
            var isMany = _answers.CountBad();
            isFirst = isNew = false;
            if (!isMany && !_isAny)
            {
                return false;
            }

            isFirst = !_isAny;
            isNew = !_resting.TryGetValue(KeyOf(resting), out var known) || known.Address.Value != resting.Address.Value;
            if (isNew)
            {
                Add(resting);
                _rested++;
            }

            _probedAt ??= time.GetTimestamp();
            return true;
        }
    }

    private static (UserKey User, string Device, string Kind) KeyOf(RestingAddress resting) => (resting.User, resting.Device, resting.Address.Kind);

    // All go together, so the oldest stays it.
    private void Add(RestingAddress resting)
    {
        _resting[KeyOf(resting)] = resting;
        _oldest = _oldest is null || resting.At < _oldest.At ? resting : _oldest;
        _isAny = true;
    }

    private bool Rests(Delivery delivery) =>
        _resting.TryGetValue((delivery.User, delivery.Device.Id, delivery.Address!.Kind), out var resting) && resting.Address.Value == delivery.Address.Value;
}
