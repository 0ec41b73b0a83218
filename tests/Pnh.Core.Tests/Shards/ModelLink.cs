using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Core.Tests.Shards;

/// <summary>
/// A session as the model sees it: keeps what it was given in order, has room for so many unacknowledged frames, takes nothing without a
/// connection, and is done for when a new frame finds no room. Notes every broken promise.
/// </summary>
internal sealed class ModelLink(int room, Func<DateTimeOffset> now) : ISessionLink
{
    private readonly List<Event> _frames = [];
    private readonly HashSet<string> _acked = [];
    private readonly HashSet<string> _takenBack = [];

    public IReadOnlyList<Event> Frames => _frames;

    public bool IsConnected { get; set; } = true;

    public bool IsOver { get; private set; }

    /// <summary>True when it has refused nothing for want of room: then it must have all that waits.</summary>
    public bool IsRoomy { get; private set; } = true;

    public List<string> Broken { get; } = [];

    public void Acked(string id) => _acked.Add(id);

    /// <summary>Gives back the newest frame, as a link does that could not queue it after all; null = none.</summary>
    public string? GiveBack()
    {
        if (_frames is not [.., var last] || _acked.Contains(last.Id))
        {
            return null;
        }

        _frames.RemoveAt(_frames.Count - 1);
        IsRoomy = false; // it comes again with the next ack or event
        return last.Id;
    }

    /// <summary>What it was given and has not acknowledged.</summary>
    public IReadOnlyCollection<string> Unacknowledged => [.. _frames.Select(static frame => frame.Id).Where(id => !_acked.Contains(id))];

    /// <summary>Its newest frames that are not acknowledged never came, so many at most.</summary>
    public void Lose(int count)
    {
        for (; count > 0 && _frames is [.., var last] && !_acked.Contains(last.Id); count--)
        {
            _frames.RemoveAt(_frames.Count - 1);
        }
    }

    public bool TrySend(string session, Event accepted)
    {
        if (IsConnected && !IsOver && Unacked >= room)
        {
            IsOver = true;
        }

        return Take(accepted);
    }

    public bool TryReplay(string session, Event accepted)
    {
        IsRoomy &= Unacked < room;
        return Unacked < room && Take(accepted);
    }

    public bool TryWithdraw(string session, Withdrawal withdrawal) => _takenBack.Add(withdrawal.Event) && IsConnected && !IsOver;

    public void Close(string session, SessionClose reason) => IsOver = true;

    private int Unacked => _frames.Count(f => !_acked.Contains(f.Id) && f.IsDurable);

    private bool Take(Event accepted)
    {
        if (!IsConnected || IsOver)
        {
            return false;
        }

        if (_frames.Any(f => f.Id == accepted.Id))
        {
            Broken.Add($"{accepted.Id} twice");
        }

        if (_takenBack.Contains(accepted.Id))
        {
            Broken.Add($"{accepted.Id} after it was taken back");
        }

        if (now() >= accepted.ExpiresAt && accepted.ExpiresAt > accepted.AcceptedAt)
        {
            Broken.Add($"{accepted.Id} after its end");
        }

        if (accepted.Class is not EventClass.Transient && _frames.LastOrDefault(f => f.Class == accepted.Class) is { } before
            && Number(before) > Number(accepted))
        {
            Broken.Add($"{accepted.Id} after {before.Id}");
        }

        _frames.Add(accepted);
        return true;
    }

    // Ids count up.
    private static int Number(Event accepted) => int.Parse(accepted.Id.AsSpan(1), System.Globalization.CultureInfo.InvariantCulture);
}
