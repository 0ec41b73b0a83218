using System.Collections;

namespace Pnh.Core.Tests.Shards;

/// <summary>A list that counts how many elements it was asked for: work that grows with the square of a length shows in it whatever the machine.</summary>
internal sealed class CountingList<T>(IReadOnlyList<T> list) : IReadOnlyList<T>
{
    public long Reads { get; private set; }

    public int Count => list.Count;

    public T this[int index]
    {
        get
        {
            Reads++;
            return list[index];
        }
    }

    public IEnumerator<T> GetEnumerator()
    {
        for (var i = 0; i < list.Count; i++)
        {
            yield return this[i];
        }
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}
