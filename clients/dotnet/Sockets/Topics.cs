using System.Globalization;
using System.Text;
using Pnh.Client.Reports;

namespace Pnh.Client.Sockets;

/// <summary>
/// The topics that the app wants, and those that the hub gives. The hub's word is believed, not what was asked for; what it refuses is asked for again on the next connection, with the next token. Not thread-safe.
/// </summary>
internal sealed class Topics
{
    private const int Portion = 10; // names of 128 characters in a frame of 16 kB, each written as two escapes
    private const string TooMany = "too-many-topics";
    private readonly HashSet<string> _wanted = new(StringComparer.Ordinal);
    private readonly HashSet<string> _joined = new(StringComparer.Ordinal);
    private readonly Dictionary<string, string> _refused = new(StringComparer.Ordinal); // by topic: why
    private HashSet<string>? _asked; // what is not answered yet; null = nothing is
    private bool _isAnswered; // an older hub says nothing of a join that it takes, and takes all of it or nothing

    /// <summary>Those that the hub has confirmed.</summary>
    public IReadOnlyCollection<string> Joined => [.. _joined];

    /// <summary>Throws for what no hub takes: it would end the session for good.</summary>
    public static void Check(IEnumerable<string> topics)
    {
        if (topics.FirstOrDefault(static topic => !IsName(topic)) is { } wrong)
        {
            throw new ArgumentException($"No name of a topic, which has 1 to 128 printable characters: {wrong}", nameof(topics));
        }
    }

    public void Want(IEnumerable<string> topics) => _wanted.UnionWith(topics);

    public void Drop(IEnumerable<string> topics) => _wanted.ExceptWith(topics);

    /// <summary>A session opened.</summary>
    public void Welcome(HubFrame welcome)
    {
        if (welcome.Topics is not null || welcome.Resumed != true)
        {
            _joined.Clear();
            _joined.UnionWith(welcome.Topics ?? []);
        }

        _refused.Clear();
        _asked = null;
        _isAnswered = welcome.Knows?.Contains(SessionSocket.KnowsJoined) == true;
    }

    /// <summary>The frames that lead from what the hub gives to what is wanted; one portion after the other, where they are answered.</summary>
    public List<ClientFrame> Say()
    {
        string[] leaves = [.. _joined.Concat(_asked ?? []).Except(_wanted)];
        foreach (var (topic, why) in _refused.Where(one => !_wanted.Contains(one.Key) || (leaves.Length > 0 && one.Value == TooMany)).ToList())
        {
            _refused.Remove(topic);
        }

        _joined.ExceptWith(leaves);
        _asked?.ExceptWith(leaves);
        string[] joins = _asked is null ? [.. Missing] : [];
        if (!_isAnswered)
        {
            _joined.UnionWith(joins);
        }
        else if (joins.Length > 0)
        {
            joins = joins[..Math.Min(joins.Length, Portion)];
            _asked = new HashSet<string>(joins, StringComparer.Ordinal);
        }

        return [.. Frames("leave", leaves), .. Frames("join", joins)];
    }

    /// <summary>The answer to a join. Gives what was refused; where there are too many, that is all that is wanted beside those that it has.</summary>
    public List<PnhException> Answer(HubFrame answer)
    {
        _joined.UnionWith((answer.Topics ?? []).Where(topic => _asked?.Contains(topic) == true));
        _asked = null;
        var refusals = new List<PnhException>();
        foreach (var (why, topics) in answer.Refused ?? [])
        {
            string[] all = why == TooMany ? [.. Missing] : topics;
            foreach (var topic in all)
            {
                _refused[topic] = why;
            }

            refusals.Add(new PnhException(0, why, $"Refused, as the hub says {why}: {string.Join(", ", all)}") { Topics = all });
        }

        return refusals;
    }

    private IEnumerable<string> Missing => _wanted.Where(topic => !_joined.Contains(topic) && !_refused.ContainsKey(topic));

    private static IEnumerable<ClientFrame> Frames(string type, string[] topics) => topics.Chunk(Portion).Select(part => new ClientFrame(type, Topics: part));

    private static bool IsName(string topic) => topic is not ("" or "." or "..") && topic.EnumerateRunes().Count() <= 128 && !topic.EnumerateRunes().Any(static rune =>
        rune == Rune.ReplacementChar || Rune.GetUnicodeCategory(rune) is UnicodeCategory.Control or UnicodeCategory.Format or UnicodeCategory.Surrogate or UnicodeCategory.PrivateUse
            or UnicodeCategory.OtherNotAssigned or UnicodeCategory.LineSeparator or UnicodeCategory.ParagraphSeparator);
}
