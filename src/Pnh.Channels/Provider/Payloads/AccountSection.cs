using System.Globalization;
using System.Text;
using Microsoft.Extensions.Configuration;

namespace Pnh.Channels.Provider.Payloads;

/// <summary>
/// Reads one provider account out of configuration and collects what is wrong with it, each error with its key. Without reflection, so that
/// trimming cannot break it.
/// </summary>
internal sealed class AccountSection
{
    private readonly IConfigurationSection _section;
    private readonly ICollection<string> _errors;
    private readonly int _errorsBefore;

    private AccountSection(string app, IConfigurationSection section, ICollection<string> errors)
    {
        App = app;
        _section = section;
        _errors = errors;
        _errorsBefore = errors.Count;
    }

    /// <summary>The app it belongs to.</summary>
    public string App { get; }

    /// <summary>Stable name of the account within its channel: <c>demo/0</c>.</summary>
    public string Name => $"{App}/{_section.Key}";

    /// <summary>True when nothing was wrong so far.</summary>
    public bool IsValid => _errors.Count == _errorsBefore;

    /// <summary>Every account of a channel (<paramref name="channel"/> as in configuration: <c>Apns</c>), in the order of apps and numbers.</summary>
    public static IEnumerable<AccountSection> ReadAll(IConfiguration pnhSection, string channel, ICollection<string> errors)
    {
        foreach (var app in pnhSection.GetSection("Apps").GetChildren())
        {
            foreach (var account in app.GetSection(channel).GetChildren())
            {
                yield return new AccountSection(app.Key, account, errors);
            }
        }
    }

    /// <summary>Notes an error of the key <paramref name="key"/>; the whole account for an empty key.</summary>
    public void Fail(string key, string problem) =>
        _errors.Add(key.Length == 0 ? $"{_section.Path}: {problem}" : $"{_section.Path}:{key}: {problem}");

    /// <summary>The value; empty, with an error, when there is none.</summary>
    public string Required(string key)
    {
        if (_section[key] is { Length: > 0 } value)
        {
            return value;
        }

        Fail(key, "missing");
        return "";
    }

    /// <summary>The value or null.</summary>
    public string? Optional(string key) => _section[key] is { Length: > 0 } value ? value : null;

    /// <summary>A whole number; <paramref name="standard"/> when the key is not set.</summary>
    public int Number(string key, int standard, int least, int most)
    {
        if (Optional(key) is not { } text)
        {
            return standard;
        }

        if (int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var value) && value >= least && value <= most)
        {
            return value;
        }

        Fail(key, $"must be a number from {least} to {most}");
        return standard;
    }

    /// <summary>An https address without path; <paramref name="standard"/> when the key is not set.</summary>
    public Uri Address(string key, string standard)
    {
        var text = Optional(key) ?? standard;
        if (Uri.TryCreate(text, UriKind.Absolute, out var address) && address.Scheme == Uri.UriSchemeHttps && address.AbsolutePath == "/")
        {
            return address;
        }

        Fail(key, "not an https address without a path");
        return new Uri(standard);
    }

    /// <summary>The text of the file that the key names; null, with an error, when it cannot be read.</summary>
    public string? File(string key) => FileBytes(key) is { } bytes ? Encoding.UTF8.GetString(bytes) : null;

    /// <summary>The bytes of the file that the key names; null, with an error, when it cannot be read.</summary>
    public byte[]? FileBytes(string key)
    {
        var path = Required(key);
        if (path.Length == 0)
        {
            return null;
        }

        try
        {
            return System.IO.File.ReadAllBytes(path);
        }
        catch (Exception exception) when (exception is FileNotFoundException or DirectoryNotFoundException)
        {
            Fail(key, "file not found");
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException or ArgumentException or NotSupportedException)
        {
            Fail(key, "file cannot be read");
        }

        return null;
    }
}
