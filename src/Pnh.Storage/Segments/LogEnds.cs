using System.Security.Cryptography;
using Pnh.Storage.Segments.Format;

namespace Pnh.Storage.Segments;

/// <summary>What the manifest says of the log, judged by the segments beside it. Of a folder without one, from a version before manifests, nothing.</summary>
internal sealed class LogEnds
{
    private readonly Manifest? _found;

    // An older version wrote on since, and knows no manifest: what it says of the ends is over.
    private readonly bool _isPassed;

    private LogEnds(Manifest? found, SegmentSet segments)
    {
        var named = 0;
        foreach (var segment in segments.All)
        {
            named = segment.Header.Folder == 0 || named == found?.Folder ? named : segment.Header.Folder;
        }

        IsMissed = named != 0 && found?.Folder != named;
        _found = IsMissed ? null : found;
        _isPassed = segments.Count > 0 && segments.Last is { End: > 0, Header.Folder: 0 } last && last.Number > _found?.Last;
        Folder = named != 0 ? named : _found?.Folder ?? RandomNumberGenerator.GetInt32(1, int.MaxValue);
        IsPaired = IsMissed || _found is { IsPaired: true };
    }

    /// <summary>There must be one, and there is none that can be read and is this folder's.</summary>
    public bool IsMissed { get; }

    /// <summary>The folder's id; made at random when there was none.</summary>
    public int Folder { get; }

    /// <summary>The registry has it.</summary>
    public bool IsPaired { get; }

    /// <summary>The first segment that there must be; 0 = none.</summary>
    public int First => _found is { Last: > 0 } manifest && !_isPassed ? manifest.First : 0;

    /// <summary>The last one that there must be; 0 = none.</summary>
    public int Last => _isPassed ? 0 : _found?.Last ?? 0;

    /// <summary>No group's number up to there was greater.</summary>
    public ulong Group => _found?.Group ?? 0;

    public static LogEnds Read(IJournalFolder folder, SegmentSet segments) => new(ManifestFile.Find(folder), segments);

    /// <summary>Up to there the segment's records were on stable storage, as far as the manifest knows.</summary>
    public int SyncedEnd(int segment) => segment == Last ? _found!.Value.End : 0;

    /// <summary>It was made for another folder, and copied here.</summary>
    public bool IsForeign(Segment segment) => segment.Header.Folder != 0 && segment.Header.Folder != Folder;

    /// <summary>True when the log goes on in a new segment: by that a later start knows that there was a manifest, or which one was lost.</summary>
    public bool NeedsSegment(Segment last) => last.Header.Folder != Folder || last.Number < Last;

    /// <summary>The one to go on from: as it was found, or of what is there now.</summary>
    public Manifest ToManifest(SegmentSet segments, ulong group) => _found ?? (segments.Count == 0
        ? new Manifest(Folder, 1, 0, 0, group, IsPaired)
        : new Manifest(Folder, segments.Oldest.Number, segments.Last.Number, segments.Last.End, group, IsPaired));
}
