using System.Globalization;

namespace Pnh.Api.Configuration;

/// <summary>Reads typed values out of a section, notes what is wrong and goes on, so that all errors are found at once. No reflection.</summary>
internal readonly struct SectionReader
{
    private readonly IConfigurationSection _section;
    private readonly ConfigurationErrors _errors;

    /// <summary>Over one section.</summary>
    public SectionReader(IConfigurationSection section, ConfigurationErrors errors)
    {
        _section = section;
        _errors = errors;
    }

    /// <summary>Full path of a key of the section.</summary>
    public string PathOf(string key) => ConfigurationPath.Combine(_section.Path, key);

    /// <summary>The text; null when absent or empty.</summary>
    public string? Text(string key) => _section[key] is { Length: > 0 } text ? text : null;

    /// <summary>Notes an error at a key.</summary>
    public void Error(string key, string message) => _errors.Add(PathOf(key), message);

    /// <summary>true or false; null when absent.</summary>
    public bool? Flag(string key)
    {
        if (Text(key) is not { } text)
        {
            return null;
        }

        if (bool.TryParse(text, out var flag))
        {
            return flag;
        }

        Error(key, "must be true or false");
        return null;
    }

    /// <summary>A TCP port, 0–65535; <paramref name="absent"/> when absent.</summary>
    public int Port(string key, int absent)
    {
        if (Text(key) is not { } text)
        {
            return absent;
        }

        if (int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var port) && port <= 65535)
        {
            return port;
        }

        Error(key, "must be a port, 0 to 65535 (0 = any free port)");
        return absent;
    }

    /// <summary>A whole number within the bounds; null when absent.</summary>
    public long? Number(string key, long least, long most)
    {
        if (Text(key) is not { } text)
        {
            return null;
        }

        if (long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number >= least && number <= most)
        {
            return number;
        }

        Error(key, string.Create(CultureInfo.InvariantCulture, $"must be a whole number, {least} to {most}"));
        return null;
    }

    /// <summary>The same as an <see cref="int"/>; <paramref name="absent"/> when absent.</summary>
    public int Number(string key, int least, int most, int absent) => (int)(Number(key, least, most) ?? absent);

    /// <summary>A duration <c>hh:mm:ss</c> or <c>d.hh:mm:ss</c> of at most <paramref name="most"/>, with milliseconds where they make sense; null when absent.</summary>
    public TimeSpan? Duration(string key, TimeSpan most, bool fractions = false)
    {
        if (Text(key) is not { } text)
        {
            return null;
        }

        if (DurationText.TryParseClock(text, fractions, out var duration) && duration <= most)
        {
            return duration;
        }

        Error(key, $"must be a duration like {(fractions ? "00:00:30 or 00:00:00.500 (hh:mm:ss, hh:mm:ss.fff)" : "00:00:30 (hh:mm:ss)")}, 0 to {most:c}");
        return null;
    }

    /// <summary>Addresses, as one text parted by <c>;</c> or as a list; <paramref name="absent"/> when absent.</summary>
    public IReadOnlyList<ListenAddress> Addresses(string key, IReadOnlyList<ListenAddress> absent)
    {
        var texts = Texts(key);
        if (texts.Length == 0)
        {
            return absent;
        }

        var addresses = new List<ListenAddress>(texts.Length);
        foreach (var text in texts)
        {
            if (ListenAddress.TryParse(text, out var address))
            {
                addresses.Add(address);
            }
            else
            {
                Error(key, "must be addresses like http://localhost:8080 or http://*:8080 (localhost, an IP address or *), parted by semicolons");
            }
        }

        return addresses;
    }

    /// <summary>Names of hosts as a Host header has them, without ports; as one text parted by <c>;</c> or as a list.</summary>
    public IReadOnlyList<string> HostNames(string key)
    {
        var names = Texts(key);
        foreach (var name in names)
        {
            // An IPv6 address stands in brackets there.
            var isName = name.StartsWith('[') == name.EndsWith(']')
                && (name.StartsWith('[') ? Uri.CheckHostName(name[1..^1]) == UriHostNameType.IPv6 : Uri.CheckHostName(name) is UriHostNameType.Dns or UriHostNameType.IPv4);
            if (!isName)
            {
                Error(key, $"'{name}' is no host name; use names like hub.internal or addresses like 10.0.0.7 or [fd00::7], without http:// and without a port");
            }
        }

        return names;
    }

    private string[] Texts(string key) => Text(key)?.Split(';', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries)
        ?? [.. _section.GetSection(key).GetChildren().Select(static child => child.Value ?? "")];
}
