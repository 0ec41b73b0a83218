using System.Buffers.Text;
using System.Globalization;
using System.Text;

namespace Pnh.LoadTest.Options;

/// <summary>Options as <c>--name value</c>, each asked for once; <see cref="End"/> complains of what nobody asked for. Not thread-safe.</summary>
internal sealed class OptionReader
{
    private readonly Dictionary<string, string> _given = new(StringComparer.Ordinal);
    private readonly IReadOnlyDictionary<string, string> _defaults;

    /// <param name="args">The words of the command line.</param>
    /// <param name="defaults">Values by name for what is not given; they need not be asked for.</param>
    /// <param name="flags">Options without a value.</param>
    public OptionReader(string[] args, IReadOnlyDictionary<string, string> defaults, params ReadOnlySpan<string> flags)
    {
        _defaults = defaults;
        for (var i = 0; i < args.Length; i++)
        {
            var name = args[i].StartsWith("--", StringComparison.Ordinal) ? args[i][2..] : throw new ArgumentException($"{args[i]}: not an option");
            _given[name] = flags.Contains(name) ? "" : ++i < args.Length ? args[i] : throw new ArgumentException($"--{name} wants a value");
        }
    }

    /// <summary>Without a fallback it must be there.</summary>
    public string Text(string name, string? fallback = null) =>
        _given.Remove(name, out var value) || _defaults.TryGetValue(name, out value) ? value : fallback ?? throw new ArgumentException($"--{name} is missing");

    public double Number(string name, double fallback) =>
        double.TryParse(Text(name, fallback.ToString(CultureInfo.InvariantCulture)), CultureInfo.InvariantCulture, out var number)
            ? number
            : throw new ArgumentException($"--{name} wants a number");

    public bool Flag(string name) => _given.Remove(name);

    /// <summary>
    /// The app's HS256 secret and the hub's data folder: <c>--secret-file</c> names the file that a first start made there.
    /// </summary>
    public (string Secret, string Data) Secret(bool isNeeded)
    {
        var file = Text("secret-file", "");
        return file.Length > 0
            ? (SecretOf(File.ReadAllBytes(file)), Path.GetDirectoryName(Path.GetFullPath(file))!)
            : (Text("secret", isNeeded ? null : ""), Text("data", "."));
    }

    // Text; or bytes, of a hub of before, whose base64url text is the secret.
    private static string SecretOf(byte[] file)
    {
        var text = Encoding.ASCII.GetString(file).Trim();
        return text.All(static character => char.IsAsciiLetterOrDigit(character) || character is '-' or '_') ? text : Base64Url.EncodeToString(file);
    }

    /// <summary>Throws when something is left.</summary>
    public void End()
    {
        if (_given.Count > 0)
        {
            throw new ArgumentException($"unknown: --{_given.Keys.First()}");
        }
    }
}
