namespace Pnh.Api.Configuration;

/// <summary>One thing wrong with the configuration.</summary>
/// <param name="Path">Where, as a configuration path: <c>Pnh:Apps:demo:Keys:0:Secret</c>.</param>
/// <param name="Message">What is wrong and what to do. Never repeats a secret.</param>
internal readonly record struct ConfigurationError(string Path, string Message)
{
    /// <summary>One line for a terminal. Control characters of a hostile key are shown as <c>?</c>, so that a line stays a line.</summary>
    public override string ToString() => $"{string.Concat(Path.Select(static c => char.IsControl(c) ? '?' : c))}: {Message}";
}

/// <summary>Everything wrong with the configuration, found in one go. Filled while reading; not thread-safe.</summary>
internal sealed class ConfigurationErrors
{
    /// <summary>Exit code of a program that cannot start because of its configuration or its command line.</summary>
    public const int ExitCode = 2;

    private readonly List<ConfigurationError> _errors = [];

    /// <summary>In the order in which they were found.</summary>
    public IReadOnlyList<ConfigurationError> All => _errors;

    /// <summary>True when nothing was found.</summary>
    public bool None => _errors.Count == 0;

    /// <summary>Notes one.</summary>
    public void Add(string path, string message) => _errors.Add(new(path, message));

    /// <summary>Notes all of another part.</summary>
    public void AddAll(ConfigurationErrors others) => _errors.AddRange(others._errors);

    /// <summary>Writes one line per error.</summary>
    public void WriteTo(TextWriter output)
    {
        foreach (var error in _errors)
        {
            output.WriteLine(UrlPassword.Hide(error.ToString()));
        }
    }
}
