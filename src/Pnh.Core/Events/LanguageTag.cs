using System.Collections.Frozen;

namespace Pnh.Core.Events;

/// <summary>
/// A language tag (BCP 47, RFC 5646) as far as a text is chosen by it: language, script and region, filled in and related as CLDR does (likely subtags, parent locales, aliases of languages). Also what Android, Java
/// and POSIX write: <c>pt_BR</c>, <c>iw-IL</c>, <c>zh_TW_#Hant</c>, <c>de_DE.UTF-8</c>. Immutable.
/// </summary>
/// <param name="Language">Lower case, never an alias.</param>
/// <param name="Script">As <c>Hant</c>; given, or the likely one of a language that is written in several. Empty = the language's one.</param>
/// <param name="Region">Upper case, or three digits; empty = none.</param>
internal readonly record struct LanguageTag(string Language, string Script, string Region)
{
    /// <summary>Nothing in common.</summary>
    private const int None = int.MaxValue;

    private const int OfNoRegion = 10;
    private const int OfHomeRegion = 11;
    private const int OfSameGroup = 15;
    private const int OfAnyRegion = 20;

    private static readonly FrozenDictionary<string, string> Aliases = Pairs("iw he  in id  ji yi  jw jv  mo ro  nb no  tl fil  cmn zh  sh sr-Latn");

    // Languages in several scripts: the likely one, another, and the regions of that.
    private static readonly (string Language, string Likely, string Other, string Regions)[] ScriptTable =
    [
        ("zh", "Hans", "Hant", "TW HK MO"), ("sr", "Cyrl", "Latn", "ME RO TR XK"), ("uz", "Latn", "Arab", "AF"), ("az", "Latn", "Arab", "IR IQ"), ("pa", "Guru", "Arab", "PK"), ("kk", "Cyrl", "Arab", "CN IR MN"),
        ("ky", "Cyrl", "Arab", "CN"), ("mn", "Cyrl", "Mong", "CN"), ("tg", "Cyrl", "Arab", "PK"), ("bs", "Latn", "Cyrl", ""), ("ku", "Latn", "Arab", "IQ"), ("ha", "Latn", "Arab", "CM SD"), ("sd", "Arab", "Deva", "IN"),
        ("ks", "Arab", "Deva", ""), ("ms", "Latn", "Arab", "CC"), ("yue", "Hant", "Hans", "CN"),
    ];

    private static readonly FrozenDictionary<string, (string Likely, string Other, FrozenSet<string> Regions)> Scripts =
        ScriptTable.ToFrozenDictionary(static one => one.Language, static one => (one.Likely, one.Other, Set(one.Regions)));

    // The region that a language without one means, where it is not the language's own name.
    private static readonly FrozenDictionary<string, string> Homes = Pairs(
        "en US  pt BR  zh-Hans CN  zh-Hant TW  ar EG  ja JP  ko KR  sv SE  da DK  cs CZ  el GR  uk UA  he IL  hi IN  vi VN  fa IR  sr-Cyrl RS  sr-Latn RS  sl SI  et EE");

    // Regions whose texts are nearer to a group's than to the home's (CLDR's parent locales).
    private static readonly (string Language, string Parent, FrozenSet<string> Regions)[] Groups =
    [
        ("es", "419", Set("AR BO BR BZ CL CO CR CU DO EC GT HN MX NI PA PE PR PY SV US UY VE")),
        ("pt", "PT", Set("AO CH CV FR GQ GW LU MO MZ ST TL")),
        ("zh-Hant", "HK", Set("MO")),
        ("en", "150", Set("AT BE CH CY DE DK FI NL SE SI")),
        ("en", "001", Set("150 AG AI AU BB BM BS BW BZ CC CK CM CX DG DM ER FJ FK FM GB GD GG GH GI GM GY HK IE IL IM IN IO JE JM KE KI KN KY LC LR LS MG MO MS MT MU MV MW MY NA NF NG NR NU NZ PG PK PN PW RW SB SC SD SG SH SL SS SX SZ TC TK TO TT TV TZ UG VC VG VU WS ZA ZM ZW")),
    ];

    /// <summary>Reads a tag; null when it names no language.</summary>
    public static LanguageTag? Parse(string text)
    {
        var end = text.AsSpan().IndexOfAny('.', '@');
        var parts = (end < 0 ? text : text[..end]).Replace('_', '-').Split('-');
        var language = parts[0].ToLowerInvariant();
        if (language.Length is < 2 or > 8 || !language.All(char.IsAsciiLetter))
        {
            return null;
        }

        var (script, region) = ("", "");
        foreach (var part in parts.AsSpan(1))
        {
            var subtag = part.TrimStart('#');
            if (subtag.Length == 1)
            {
                break; // extensions and private use
            }

            if (subtag.Length == 3 && subtag.All(char.IsAsciiLetter) && script.Length == 0 && region.Length == 0)
            {
                language = subtag.ToLowerInvariant(); // zh-yue is yue
            }
            else if (subtag.Length == 4 && subtag.All(char.IsAsciiLetter) && script.Length == 0)
            {
                script = char.ToUpperInvariant(subtag[0]) + subtag[1..].ToLowerInvariant();
            }
            else if (region.Length == 0 && ((subtag.Length == 2 && subtag.All(char.IsAsciiLetter)) || (subtag.Length == 3 && subtag.All(char.IsAsciiDigit))))
            {
                region = subtag.ToUpperInvariant();
            }
        }

        if (Aliases.TryGetValue(language, out var alias))
        {
            var dash = alias.IndexOf('-', StringComparison.Ordinal);
            (language, script) = dash < 0 ? (alias, script) : (alias[..dash], script.Length > 0 ? script : alias[(dash + 1)..]);
        }

        return new LanguageTag(language, script.Length > 0 || !Scripts.TryGetValue(language, out var scripts) ? script : scripts.Regions.Contains(region) ? scripts.Other : scripts.Likely, region);
    }

    /// <summary>Which of the keys is nearest to a device's tag; null = none is in its language and script. Of two that are as near the first one by name.</summary>
    public static string? FindNearest(IEnumerable<string> keys, string locale)
    {
        if (Parse(locale) is not { } wanted)
        {
            return null;
        }

        var (nearest, least) = ((string?)null, None);
        foreach (var key in keys.Order(StringComparer.Ordinal))
        {
            if (Parse(key) is { } tag && wanted.DistanceTo(tag) is var distance && distance < least)
            {
                (nearest, least) = (key, distance);
            }
        }

        return nearest;
    }

    private int DistanceTo(LanguageTag text)
    {
        // Norwegians read both; a script that is not told is the usual one.
        var isSame = Language == text.Language || (Language == "nn" && text.Language == "no");
        if (!isSame || (Script != text.Script && Script.Length > 0 && text.Script.Length > 0))
        {
            return None;
        }

        if (Region == text.Region)
        {
            return 0;
        }

        var chain = Parents();
        return chain.IndexOf(text.Region) is >= 0 and var steps && text.Region.Length > 0 ? 1 + steps
            : text.Region.Length == 0 ? OfNoRegion
            : Region.Length == 0 && text.Region == Home() ? OfHomeRegion
            : text.Parents() is var theirs && (theirs.Contains(Region) || theirs.Intersect(chain).Any()) ? OfSameGroup
            : OfAnyRegion;
    }

    private List<string> Parents()
    {
        var parents = new List<string>();
        var region = Region;
        foreach (var (language, parent, regions) in Groups)
        {
            if ((language == Language || language == $"{Language}-{Script}") && regions.Contains(region))
            {
                parents.Add(parent);
                region = parent;
            }
        }

        return parents;
    }

    private string Home() => Homes.GetValueOrDefault(Language) ?? Homes.GetValueOrDefault($"{Language}-{Script}") ?? Language.ToUpperInvariant();

    private static FrozenDictionary<string, string> Pairs(string pairs) =>
        pairs.Split("  ").Select(static pair => pair.Split(' ')).ToFrozenDictionary(static pair => pair[0], static pair => pair[1], StringComparer.Ordinal);

    private static FrozenSet<string> Set(string regions) => regions.Split(' ').ToFrozenSet(StringComparer.Ordinal);
}
