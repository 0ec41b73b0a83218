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

    /// <summary>All apps by name.</summary>
    public static IReadOnlyDictionary<string, AppOptions> Read(IConfigurationSection section, ConfigurationErrors errors, string workingFolder)
    {
        var apps = new Dictionary<string, AppOptions>(StringComparer.Ordinal);
        foreach (var app in section.GetChildren())
        {
            if (!Ids.IsApp(app.Key))
            {
                errors.Add(app.Path, "app names are 1 to 32 characters of a-z, 0-9 and -");
                continue;
            }

            var options = new AppOptions(app.Key, ReadKeys(app.GetSection("Keys"), errors), ReadTokens(app.GetSection("Tokens"), errors, workingFolder));
            apps.Add(app.Key, options with { ClientSend = new SectionReader(app, errors).Flag("ClientSend") ?? false });
        }

        CheckKeys(apps.Values, errors);
        CheckAudiences(apps.Values, section, errors);
        return apps;
    }

    private static List<KeyOptions> ReadKeys(IConfigurationSection section, ConfigurationErrors errors)
    {
        var keys = new List<KeyOptions>();
        foreach (var child in section.GetChildren())
        {
            var reader = new SectionReader(child, errors);
            var hash = ReadHash(reader);
            if (!Scopes.TryParse(reader.Text("Scopes"), out var scopes, out var unknown))
            {
                var what = unknown is null ? "is missing" : "names an unknown scope";
                reader.Error("Scopes", $"{what}; use one or more of {string.Join(", ", Scopes.Names)}, parted by spaces");
            }

            if (hash is { } known && scopes != Scope.None)
            {
                keys.Add(new(child.Path, known, scopes));
            }
        }

        return keys;
    }

    private static KeyHash? ReadHash(SectionReader reader)
    {
        switch (reader.Text("Secret"), reader.Text("SecretHash"))
        {
            case (null, null):
                reader.Error("Secret", "is missing; set a key, or its SHA-256 as SecretHash");
                return null;
            case (not null, not null):
                reader.Error("SecretHash", "is set together with Secret; keep one of the two");
                return null;
            case ({ } secret, null):
                if (secret.Length is >= KeyCharacters and <= PublisherKeys.SecretCharacters)
                {
                    return KeyHash.Of(secret);
                }

                reader.Error("Secret", $"must have {KeyCharacters} to {PublisherKeys.SecretCharacters} characters");
                return null;
            case (null, { } text):
                if (KeyHash.TryParse(text, out var hash))
                {
                    return hash;
                }

                reader.Error("SecretHash", "must be the SHA-256 of the key in UTF-8, as 64 hexadecimal digits");
                return null;
        }
    }

    private static TokenOptions? ReadTokens(IConfigurationSection section, ConfigurationErrors errors, string workingFolder)
    {
        if (!section.GetChildren().Any())
        {
            return null;
        }

        var reader = new SectionReader(section, errors);
        var (secret, file, jwks) = (reader.Text("Hs256Secret"), reader.Text("PublicKeyFile"), reader.Text("Jwks"));
        if ((secret is null ? 0 : 1) + (file is null ? 0 : 1) + (jwks is null ? 0 : 1) != 1)
        {
            errors.Add(section.Path, "set exactly one of Hs256Secret, PublicKeyFile and Jwks");
            return null;
        }

        if (secret is not null && Encoding.UTF8.GetByteCount(secret) < Hs256SecretBytes)
        {
            reader.Error("Hs256Secret", $"must have at least {Hs256SecretBytes} bytes (RFC 7518 section 3.2)");
        }

        IReadOnlyList<TokenKey> keys = [];
        string? problem = null;
        if (file is not null && !TokenKeyReader.TryReadPem(Path.GetFullPath(file, workingFolder), out keys, out problem))
        {
            reader.Error("PublicKeyFile", problem!);
        }

        if (jwks is not null && !TokenKeyReader.TryReadJwks(jwks, workingFolder, out keys, out problem))
        {
            reader.Error("Jwks", problem!);
        }

        return new() { Hs256Secret = secret, PublicKeys = keys, Audience = reader.Text("Audience") };
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
