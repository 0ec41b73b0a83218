using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Sandbox;

namespace Pnh.Api.FirstStart;

/// <summary>Gives the demo user an iPhone and an Android phone, so that the first event has somewhere to go.</summary>
internal static class DemoDevices
{
    private const string IosAddress = "a11ce0000000000000000000000000000000000000000000000000000000ada1";
    private const string AndroidAddress = "ada-android:demo-registration-token";

    /// <summary>Registers both when the user has no devices yet, and tells the sandbox whose phones they are.</summary>
    public static async Task RegisterAsync(IDeviceStore devices, SandboxServer sandbox, TimeProvider time, CancellationToken cancellationToken)
    {
        sandbox.Phones.Name(IosAddress, "Ada's iPhone");
        sandbox.Phones.Name(AndroidAddress, "Ada's Android");
        var user = new UserKey(DemoApp.Name, DemoApp.User);
        if ((await devices.GetUserAsync(user, cancellationToken)).Devices.Count > 0)
        {
            return;
        }

        var now = time.GetUtcNow();
        await devices.PutDeviceAsync(user, Phone("ada-iphone", Platform.Ios, "apns", IosAddress, $"sandbox/{DemoApp.Topic}", now), cancellationToken);
        await devices.PutDeviceAsync(user, Phone("ada-android", Platform.Android, "fcm", AndroidAddress, "", now), cancellationToken);
    }

    private static Device Phone(string id, Platform platform, string channel, string address, string scope, DateTimeOffset now) => new()
    {
        Id = id,
        Platform = platform,
        Addresses = [new PushAddress(channel, "token", address, scope, now)],
        RegisteredAt = now,
    };
}
