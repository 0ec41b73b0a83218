using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Options;
using Pnh.Channels.Settings;

namespace Pnh.Channels.Provider.Payloads;

/// <summary>
/// One provider account of the configuration, and what is wrong with it, each error with its key.
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
    public void Fail(string key, string problem) => _errors.Add(LineOf(key, problem));

    /// <summary>The line that says it.</summary>
    public string LineOf(string key, string problem) => key.Length == 0 ? $"{_section.Path}: {problem}" : $"{_section.Path}:{key}: {problem}";

    /// <summary>The account's record; its errors are noted.</summary>
    /// <param name="bind">The generated binder, which must see the record's name at the place of its call.</param>
    /// <param name="rules">Null = the record has none.</param>
    public T Read<[DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicProperties)] T>(Func<IConfiguration, T?> bind, IValidateOptions<T>? rules = null)
        where T : class, new() => SettingsReader.Read(_section, bind, rules, Fail);

    /// <summary>The value as it is now, which may have changed since the start; null when there is none.</summary>
    public string? Now(string key) => _section[key] is { Length: > 0 } value ? value : null;

    /// <summary>The value; empty, with an error, when there is none.</summary>
    public string Required(string key, string? value)
    {
        if (value is null)
        {
            Fail(key, "missing");
        }

        return value ?? "";
    }

    /// <summary>The bytes of the file <paramref name="value"/>, which the key names; null, with an error, when it cannot be read.</summary>
    public byte[]? FileBytes(string key, string? value)
    {
        var path = Required(key, value);
        if (path.Length == 0)
        {
            return null;
        }

        try
        {
            return File.ReadAllBytes(path);
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
