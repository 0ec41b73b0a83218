using System.Buffers.Text;
using Pnh.Core.Stores;
using Pnh.Sandbox;
using Pnh.Storage.Files;

namespace Pnh.Api.FirstStart;

/// <summary>
/// The app that a hub without any gets: generated secrets, kept in the data folder (mode 0600), and the sandbox as its providers. It enters as
/// configuration, so that nothing in the hub knows a demo from a real app.
/// </summary>
internal static class DemoApp
{
    /// <summary>The app's name.</summary>
    public const string Name = "demo";

    /// <summary>Whose devices are there from the start.</summary>
    public const string User = "ada";

    /// <summary>The bundle id of the fake iPhone's app.</summary>
    public const string Topic = "com.example";

    private const string KeyFile = "demo.key";
    private const string TokenFile = "demo.hs256";
    private const int SecretBytes = 32;

    /// <summary>The publisher key, all scopes; the same at every start.</summary>
    public static string Key(DataFolder folder) => Key(folder.ReadOrCreateSecret(KeyFile, SecretBytes));

    /// <summary>The same of a demo that was started on this folder before; null when none was. Takes no lock.</summary>
    public static string? Key(string folder)
    {
        var file = Path.Combine(folder, KeyFile);
        return File.Exists(file) ? Key(File.ReadAllBytes(file)) : null;
    }

    /// <summary>The app's section of the configuration; without providers when there is no sandbox.</summary>
    public static Dictionary<string, string?> Configuration(DataFolder folder, SandboxServer? sandbox)
    {
        var section = OfSecret(folder.ReadOrCreateSecretText(TokenFile));
        section[$"{Section}:Keys:0:Secret"] = Key(folder);
        section[$"{Section}:Keys:0:Scopes"] = "send register read admin";
        if (sandbox is not null)
        {
            AddApns(section, 0, "production", sandbox);
            AddApns(section, 1, "sandbox", sandbox);
            section[$"{Section}:Fcm:0:ServiceAccountFile"] = sandbox.Credentials.ServiceAccountFile;
            section[$"{Section}:Fcm:0:BaseAddress"] = sandbox.FcmAddress.ToString();
            AddWebPush(section, sandbox);
        }

        return section;
    }

    /// <summary>What <c>pnh token</c> needs of a demo that was started on this folder before; null when none was. Takes no lock.</summary>
    public static Dictionary<string, string?>? TokenConfiguration(string folder)
    {
        var file = Path.Combine(folder, TokenFile);
        return File.Exists(file) ? OfSecret(SecretText.Read(File.ReadAllBytes(file))) : null;
    }

    // A device may say either environment, or none: a stranger's first registration should ring.
    private static void AddApns(Dictionary<string, string?> section, int index, string environment, SandboxServer sandbox)
    {
        var account = $"{Section}:Apns:{index}";
        section[$"{account}:TeamId"] = sandbox.Credentials.TeamId;
        section[$"{account}:KeyId"] = sandbox.Credentials.KeyId;
        section[$"{account}:KeyFile"] = sandbox.Credentials.KeyFile;
        section[$"{account}:Topic"] = Topic;
        section[$"{account}:Environment"] = environment;
        section[$"{account}:BaseAddress"] = sandbox.ApnsAddress.ToString();
    }

    // For the browsers of GET /sandbox/browsers/{name}: a page that wants one registers it.
    private static void AddWebPush(Dictionary<string, string?> section, SandboxServer sandbox)
    {
        var account = $"{Section}:WebPush:0";
        section[$"{account}:Subject"] = "mailto:ops@example.com";
        section[$"{account}:KeyFile"] = sandbox.Credentials.VapidKeyFile;
        section[$"{account}:AllowedHosts"] = sandbox.FcmAddress.Authority;
        section[$"{account}:AllowLoopback"] = "true";
    }

    private static string Key(byte[] secret) => $"pnh_{Name}_{Base64Url.EncodeToString(secret)}";

    private static string Section => $"Pnh:Apps:{Name}";

    private static Dictionary<string, string?> OfSecret(string secret) => new()
    {
        [$"{Section}:Tokens:Hs256Secret"] = secret,
    };
}
