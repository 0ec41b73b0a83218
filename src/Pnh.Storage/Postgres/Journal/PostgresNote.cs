using System.Buffers;
using System.Buffers.Binary;
using Npgsql;
using NpgsqlTypes;
using Pnh.Core.Journal;
using Pnh.Storage.Segments.Format;

namespace Pnh.Storage.Postgres.Journal;

/// <summary>What was noted and waits for its commit: a milestone, an address's health in the shape of one, or (without kind) that an event is finished. Nobody waits for it.</summary>
/// <param name="Milestone">What.</param>
internal readonly record struct PostgresNote(Milestone Milestone)
{
    /// <summary>Its number; it rises with the order in which notes came, over all terms. 0 = it has none yet.</summary>
    public long N { get; init; }

    /// <summary>When it came, among all work and notes.</summary>
    public long Turn { get; init; }

    /// <summary>The event that it is of.</summary>
    public (string App, string Id) Event => (Milestone.App, Milestone.Event);

    /// <summary>True for an address note.</summary>
    public bool IsAddress => Milestone.Event.Length == 0;

    /// <summary>True when it says that its event needs nothing any more.</summary>
    public bool IsFinish => Milestone.Kind == default && !IsAddress;

    /// <summary>True when it says that only mail of its event is left.</summary>
    public bool IsRest => Milestone is { Kind: MilestoneKind.Rested, Device: null };

    /// <summary>A whole event is finished.</summary>
    public static PostgresNote Finish(string app, string id) => new(new Milestone(app, id, default, default, default));
}

/// <summary>Notes of one event and user in one commit, as a row; up to one of the feed, which is the last.</summary>
/// <param name="gen">The event's partition.</param>
/// <param name="no">The event's number; 0 = of an address.</param>
/// <param name="app">The app.</param>
/// <param name="user">Whose; empty = of the whole event.</param>
internal sealed class PostgresNoteRow(long gen, long no, string app, string user)
{
    // A number and a payload with its length and whether it rests.
    private const int Overhead = 13;
    private readonly ArrayBufferWriter<byte> _bytes = new();

    public long Gen => gen;

    public long No => no;

    /// <summary>The number of its last note.</summary>
    public long N { get; private set; }

    /// <summary>True when its last note is one of the feed: then nothing more goes into it, so that rows are in the feed's order.</summary>
    public bool Feeds { get; private set; }

    private bool Failed { get; set; }

    /// <summary>Adds a note; <paramref name="scratch"/> is used and left.</summary>
    public void Add(in PostgresNote note, Group scratch)
    {
        var milestone = note.Milestone;
        scratch.Begin(segment: 0, start: 0, number: 0);
        scratch.Milestone(milestone, RecordKind.Milestone, RecordFlags.None, root: 0, previous: 0);
        var payload = Record.Trusted(scratch.Bytes).Payload;
        var head = _bytes.GetSpan(Overhead);
        BinaryPrimitives.WriteInt64LittleEndian(head, note.N);
        BinaryPrimitives.WriteInt32LittleEndian(head[8..], payload.Length);
        head[12] = milestone.Kind == MilestoneKind.Rested ? (byte)1 : (byte)0;
        _bytes.Advance(Overhead);
        _bytes.Write(payload);
        N = note.N;
        Feeds |= note.IsAddress || MilestoneViews.IsOutcome(milestone.Kind, hasUser: milestone.User is not null);
        Failed |= milestone.User is not null && MilestoneViews.IsFailure(milestone.Kind, milestone.State);
    }

    /// <summary>Adds one statement for all of these, of one partition.</summary>
    public static void Add(NpgsqlBatch batch, long gen, IReadOnlyList<PostgresNoteRow> rows) => batch
        .Add($"INSERT INTO {PostgresPartitions.TableOf("pnh.notes", gen)}(gen, no, n, app, user_, feeds, failed, bytes) SELECT $1, r.* FROM unnest($2, $3, $4, $5, $6, $7, $8) AS r(no, n, app, user_, feeds, failed, bytes)")
        .With((long?)gen)
        .Column(NpgsqlDbType.Bigint, rows, static row => row.No)
        .Column(NpgsqlDbType.Bigint, rows, static row => row.N)
        .Column(NpgsqlDbType.Text, rows, static row => row.App)
        .Column(NpgsqlDbType.Text, rows, static row => row.User)
        .Column(NpgsqlDbType.Boolean, rows, static row => row.Feeds)
        .Column(NpgsqlDbType.Boolean, rows, static row => row.Failed)
        .Column(NpgsqlDbType.Bytea, rows, static row => row.Bytes);

    /// <summary>The bytes of a row, which <see cref="Read"/> reads.</summary>
    public byte[] Bytes => _bytes.WrittenSpan.ToArray();

    private string App => app;

    private string User => user;

    /// <summary>The notes of a row.</summary>
    public static void Read(ReadOnlySpan<byte> bytes, List<PostgresNote> notes)
    {
        while (bytes.Length > 0)
        {
            var length = BinaryPrimitives.ReadInt32LittleEndian(bytes[8..]);
            notes.Add(new PostgresNote(Payload.Milestone(bytes.Slice(Overhead, length), isRested: bytes[12] != 0)) { N = BinaryPrimitives.ReadInt64LittleEndian(bytes) });
            bytes = bytes[(Overhead + length)..];
        }
    }

    /// <summary>In the order in which they came.</summary>
    public static IReadOnlyList<Milestone> InOrder(List<PostgresNote> notes)
    {
        notes.Sort(static (a, b) => a.N.CompareTo(b.N));
        return notes.ConvertAll(static note => note.Milestone);
    }
}
