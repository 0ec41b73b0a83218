using Pnh.Storage.Segments.Format;

namespace Pnh.Benchmarks;

/// <summary>A disk that takes everything at once: the journal's own work without the system's. Nothing is read back in a measurement.</summary>
internal sealed class NullFolder : IJournalFolder
{
    private readonly Dictionary<string, NullFile> _files = new(StringComparer.Ordinal);

    public string Name => "null";

    public IReadOnlyList<string> List() => [.. _files.Keys];

    public IJournalFile Create(string name, long bytes) => _files[name] = new NullFile(bytes);

    public IJournalFile Open(string name) => _files[name];

    public void Delete(string name) => _files.Remove(name);

    public void Sync()
    {
    }

    public void Quarantine(string name, ReadOnlySpan<byte> bytes)
    {
    }

    private sealed class NullFile(long length) : IJournalFile
    {
        public long Length => length;

        public int Read(Span<byte> into, long offset)
        {
            into.Clear();
            return into.Length;
        }

        public void Write(ReadOnlySpan<byte> bytes, long offset)
        {
        }

        public void Sync()
        {
        }

        public void Dispose()
        {
        }
    }
}
