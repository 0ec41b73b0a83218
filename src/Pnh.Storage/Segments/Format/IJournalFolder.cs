namespace Pnh.Storage.Segments.Format;

/// <summary>
/// The folder of segments, as little of a file system as the journal needs, so that a test can stand under it and crash. What was written is
/// on stable storage after <see cref="IJournalFile.Sync"/>, what was created or deleted after <see cref="Sync"/>. Faults are <see cref="IOException"/>.
/// </summary>
internal interface IJournalFolder
{
    /// <summary>For messages: where it is.</summary>
    string Name { get; }

    /// <summary>Names of the files in it, in no order.</summary>
    IReadOnlyList<string> List();

    /// <summary>An empty file with <paramref name="bytes"/> bytes of zero allocated; replaces one of that name.</summary>
    IJournalFile Create(string name, long bytes);

    IJournalFile Open(string name);

    /// <summary>No error when there is none.</summary>
    void Delete(string name);

    void Sync();

    /// <summary>Puts damaged bytes aside, in a file of their own that is synced before this returns; replaces one of that name.</summary>
    void Quarantine(string name, ReadOnlySpan<byte> bytes);
}

/// <summary>One segment's file. Reads may run beside everything else; writes and syncs come from one thread.</summary>
internal interface IJournalFile : IDisposable
{
    long Length { get; }

    /// <summary>Bytes read; fewer than asked for only at the end. <see cref="ObjectDisposedException"/> once it is closed.</summary>
    int Read(Span<byte> into, long offset);

    void Write(ReadOnlySpan<byte> bytes, long offset);

    void Sync();
}
