using System.Text;
using Pnh.Api.Access;
using Pnh.Core.Events;

namespace Pnh.Api.Configuration;

/// <summary>Reads <c>Pnh:Apps</c>: publisher keys and how client tokens are checked. Keeps hashes of keys, never the keys.</summary>
internal static class AppsReader
{
    /// <summary>Fewest characters of a configured key: 16 random ones hold some 96 bits.</summary>
    public const int KeyCharacters = 16;

    /// <summary>Fewest bytes of an HS256 secret (RFC 7518 section 3.2).</summary>
    public const int Hs256SecretBytes = 32;

    // What lets somebody in, or a push out.
    private static readonly string[] Access = ["Keys", "Tokens", "Apns", "Fcm", "WebPush"];

    // What runs code, or opens what the phone has.
    private static readonly string[] NeverLinks = ["javascript", "vbscript", "data", "file", "blob", "content", "intent", "about", "http"];

    /// <summary>All apps by name.</summary>
    public static IReadOnlyDictionary<string, AppOptions> Read(SectionReader section, string workingFolder)
    {
        var apps = new Dictionary<string, AppOptions>(StringComparer.Ordinal);
        foreach (var app in section.All())
        {
            var name = app.Section.Key;
            if (!Ids.IsApp(name))
            {
                section.Error(name, "app names are 1 to 32 characters of a-z, 0-9 and -");
                continue;
            }

            var keys = app.Of("Keys").All().Select(ReadKey).OfType<KeyOptions>().ToList();
            var settings = app.Read(static section => section.Get<AppSettings>());
            var origins = app.Read(static section => section.Get<OriginSettings>(), new OriginRules()).Origins;
            foreach (var scheme in settings.LinkSchemes.Where(static scheme => !Uri.CheckSchemeName(scheme) || Array.Exists(NeverLinks, never => never.Equals(scheme, StringComparison.OrdinalIgnoreCase))))
            {
                app.Error(nameof(AppSettings.LinkSchemes), $"'{scheme}' is no scheme that a tap may open; use the app's own, like myapp");
            }

            apps.Add(name, new AppOptions(name, keys, ReadTokens(app.Of("Tokens"), workingFolder)) { ClientSend = settings.ClientSend, LinkSchemes = settings.LinkSchemes, ContentText = ReadContent(app, settings), Origins = origins, IsBare = IsBare(app.Section) });
        }

        CheckKeys(apps.Values, section.Errors);
        CheckAudiences(apps.Values, section.Section, section.Errors);
        return apps;
    }

    private static string? ReadContent(SectionReader app, AppSettings settings)
    {
        switch (settings.Content, settings.ContentText)
        {
            case ("all", null):
                return null;
            case ("all", _):
                app.Error(nameof(AppSettings.ContentText), "is shown only with Content=ids");
                return null;
            case ("ids", { Length: > 0 and <= 100 } text) when !string.IsNullOrWhiteSpace(text):
                return text;
            case ("ids", _):
                app.Error(nameof(AppSettings.ContentText), "is missing or longer than 100 characters; Content=ids shows it until the app has fetched the event");
                return null;
            default:
                app.Error(nameof(AppSettings.Content), $"'{settings.Content}' is neither all nor ids");
                return null;
        }
    }

    // Whether a provider's accounts are right is the channel's to judge.
    private static bool IsBare(IConfigurationSection app) =>
        !app.GetChildren().Any(static child => Array.Exists(Access, name => name.Equals(child.Key, StringComparison.OrdinalIgnoreCase)));

    private static KeyOptions? ReadKey(SectionReader reader)
    {
        var settings = reader.Read(static section => section.Get<KeySettings>());
        var hash = ReadHash(reader, settings);
        if (!Scopes.TryParse(settings.Scopes, out var scopes, out var unknown))
        {
            var what = unknown is null ? "is missing" : "names an unknown scope";
            reader.Error(nameof(KeySettings.Scopes), $"{what}; use one or more of {string.Join(", ", Scopes.Names)}, parted by spaces");
        }

        return hash is { } known && scopes != Scope.None ? new(reader.Section.Path, known, scopes) : null;
    }

    private static KeyHash? ReadHash(SectionReader reader, KeySettings settings)
    {
        switch (settings.Secret, settings.SecretHash)
        {
            case (null, null):
                reader.Error(nameof(KeySettings.Secret), "is missing; set a key, or its SHA-256 as SecretHash");
                return null;
            case (not null, not null):
                reader.Error(nameof(KeySettings.SecretHash), "is set together with Secret; keep one of the two");
                return null;
            case ({ } secret, null):
                if (secret.Length is >= KeyCharacters and <= PublisherKeys.SecretCharacters)
                {
                    return KeyHash.Of(secret);
                }

                reader.Error(nameof(KeySettings.Secret), $"must have {KeyCharacters} to {PublisherKeys.SecretCharacters} characters");
                return null;
            case (null, { } text):
                if (KeyHash.TryParse(text, out var hash))
                {
                    return hash;
                }

                reader.Error(nameof(KeySettings.SecretHash), "must be the SHA-256 of the key in UTF-8, as 64 hexadecimal digits");
                return null;
        }
    }

    /// <summary>How one app's client tokens are checked; null = it takes none, or there is an error.</summary>
    internal static TokenOptions? ReadTokens(SectionReader reader, string workingFolder)
    {
        if (!reader.Section.GetChildren().Any())
        {
            return null;
        }

        var settings = reader.Read(static section => section.Get<TokenSettings>());
        if ((string?[])[settings.Hs256Secret, settings.PublicKeyFile, settings.Jwks] is var ways && ways.Count(static way => way is not null) != 1)
        {
            reader.Errors.Add(reader.Section.Path, "set exactly one of Hs256Secret, PublicKeyFile and Jwks");
            return null;
        }

        // Empty values count as absent.
        var more = Array.FindAll(settings.Hs256Secrets ?? [], static one => one.Length > 0);
        CheckSecrets(reader, settings.Hs256Secret, more);

        IReadOnlyList<TokenKey> keys = [];
        string? problem = null;
        if (settings.PublicKeyFile is { } file && !TokenKeyReader.TryReadPem(Path.GetFullPath(file, workingFolder), out keys, out problem))
        {
            reader.Error(nameof(TokenSettings.PublicKeyFile), problem!);
        }

        if (settings.Jwks is { } jwks && !TokenKeyReader.TryReadJwks(jwks, workingFolder, out keys, out problem))
        {
            reader.Error(nameof(TokenSettings.Jwks), problem!);
        }

        return new() { Hs256Secrets = settings.Hs256Secret is { } first ? [first, .. more] : [], PublicKeys = keys, Audience = settings.Audience };
    }

    private static void CheckSecrets(SectionReader reader, string? first, string[] more)
    {
        if (first is { } secret && Encoding.UTF8.GetByteCount(secret) < Hs256SecretBytes)
        {
            reader.Error(nameof(TokenSettings.Hs256Secret), $"must have at least {Hs256SecretBytes} bytes (RFC 7518 section 3.2)");
        }

        if (more.Length > 0 && (first is null || Array.Exists(more, static one => Encoding.UTF8.GetByteCount(one) < Hs256SecretBytes)))
        {
            reader.Error(
                nameof(TokenSettings.Hs256Secrets),
                first is null ? "is set without Hs256Secret, which makes tokens" : $"must have at least {Hs256SecretBytes} bytes each (RFC 7518 section 3.2)");
        }
    }

    private static void CheckKeys(IEnumerable<AppOptions> apps, ConfigurationErrors errors)
    {
        var paths = new Dictionary<KeyHash, string>();
        foreach (var key in apps.SelectMany(static app => app.Keys))
        {
            if (!paths.TryAdd(key.Hash, key.Path))
            {
                errors.Add(key.Path, $"is the same key as {paths[key.Hash]}; every key must be different");
            }
        }
    }

    /// <summary>The audience says which app's key checks a token, so no two apps may share one.</summary>
    private static void CheckAudiences(IEnumerable<AppOptions> apps, IConfigurationSection section, ConfigurationErrors errors)
    {
        var owners = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (var app in apps.Where(static app => app.Tokens is not null))
        {
            if (!owners.TryAdd(app.Tokens!.Audience ?? app.Name, app.Name))
            {
                var path = ConfigurationPath.Combine(section.Path, app.Name, "Tokens", "Audience");
                errors.Add(path, $"is also the audience of app {owners[app.Tokens.Audience ?? app.Name]}; every app needs its own");
            }
        }
    }
}
