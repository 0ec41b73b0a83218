namespace Pnh.Core.Intake;

/// <summary>
/// Says who is refused when a share of the senders is: they stand in a circle that turns, so the same ones are refused again and again, and the others not at all, each
/// for its part of <see cref="Round"/>. Thread-safe; turned by one caller.
/// </summary>
/// <remarks>
/// The same ones, because by chance alone nearly all senders are refused something within a moment, and those who obey Retry-After were all silent for a second
/// where a tenth of them would have been enough. WeChat refuses by a hash of the user for a like reason (DAGOR, SoCC 2018).
/// </remarks>
internal sealed class SenderCircle(TimeProvider time)
{
    /// <summary>All senders, as a share.</summary>
    internal const int All = 10_000;

    /// <summary>In so long each sender was among the refused for their share of it.</summary>
    internal static readonly TimeSpan Round = TimeSpan.FromMinutes(1);

    // A place in the circle is a number of 32 bits; the multiplier is 2^32 over the golden ratio, which spreads numbers that follow each other.
    private const double Places = 1L << 32;
    private const uint Spread = 0x9E3779B9;
    private readonly long _began = time.GetTimestamp();
    private uint _turned;

    /// <summary>Turns it to where it stands now.</summary>
    public void Turn() => Volatile.Write(ref _turned, unchecked((uint)(long)(time.GetElapsedTime(_began) / Round * Places)));

    /// <summary>
    /// True when the sender is among the <paramref name="share"/> of <see cref="All"/> in front. At the border it is left to chance, so that a share between none and
    /// all can be had of a single sender too.
    /// </summary>
    public bool IsAmong(int share, int sender)
    {
        var place = (int)(((ulong)unchecked(((uint)sender * Spread) + Volatile.Read(ref _turned)) * All) >> 32);
        var border = Math.Min(share, All - share) * 2 / 5;
        var depth = share + border - place;
        return depth > 0 && (depth >= 2 * border || Random.Shared.Next(2 * border) < depth);
    }
}
