using System.Security.Cryptography;
using System.Text;
using Pnh.LoadTest.Measure;

namespace Pnh.LoadTest.Profiles;

/// <summary>
/// Users with mixed devices, a quarter each: a tab; an iPhone; an Android phone; all three. A tab that acknowledges keeps its user's phones quiet, so every event must arrive once: at
/// the tab where there is one, else at the phone. The phones are the sandbox's, asked for what they received; PNH only.
/// </summary>
internal static class FanOutProfile
{
    private const int Kinds = 4;

    // Longer than any ack deadline: a push that must not come has had its chance. As long again for one that is still under way.
    private const double PushSeconds = 5;

    public static BenchResult Run(BenchRun run)
    {
        if (run.Options.PhonesPort == 0 && !run.Options.NoPhones)
        {
            throw new ArgumentException("--phones-port is missing: the sandbox's FCM port, where the phones are asked what they received; --no-phones leaves them unchecked");
        }

        var users = run.Options.SessionsOr(1000);
        DeviceImport.Run(run.Options, Enumerable.Range(0, users).SelectMany(user => Devices(run, user)));
        for (var user = 0; user < users; user++)
        {
            if (user % Kinds is 0 or 3)
            {
                run.Add(user);
            }
        }

        run.Open();
        var result = run.MeasureWarm(OneProfile.Load(run, users, run.Options.RateOr(200)), run.Options.Seconds);
        return run.Options.NoPhones ? result : WithPhones(run, result, users);
    }

    private static BenchResult WithPhones(BenchRun run, BenchResult result, int users)
    {
        var expected = Expected(run, users);
        run.Loop.Run(PushSeconds);
        var received = PhoneClient.Read(run.Options);
        if (PhoneClient.Compare(expected, received).Lost > 0)
        {
            run.Loop.Run(PushSeconds);
            received = PhoneClient.Read(run.Options);
        }

        var (lost, spurious) = PhoneClient.Compare(expected, received);
        result.Extra["pushes expected"] = expected.Values.Sum();
        result.Extra["pushes arrived"] = expected.Keys.Sum(address => received.GetValueOrDefault(address));
        return result with
        {
            Wrong = result.Wrong! with { Expected = result.Wrong.Expected + expected.Values.Sum(), Lost = result.Wrong.Lost + lost, Duplicate = result.Wrong.Duplicate + spurious },
        };
    }

    // Each phone of the run: what its user was promised where there is no tab, else nothing.
    private static Dictionary<string, long> Expected(BenchRun run, int users)
    {
        var expected = new Dictionary<string, long>(StringComparer.Ordinal);
        for (var user = 0; user < users; user++)
        {
            var wanted = user % Kinds is 1 or 2 ? run.Ledger.Taken(user) : 0;
            if (HasIPhone(user))
            {
                expected[ApnsToken(run, user)] = wanted;
            }

            if (HasAndroid(user))
            {
                expected[FcmToken(run, user)] = wanted;
            }
        }

        return expected;
    }

    private static IEnumerable<string> Devices(BenchRun run, int user)
    {
        var name = run.Peer.NameOf(user);
        if (HasIPhone(user))
        {
            yield return $$"""{"user":"{{name}}","device":"iphone","platform":"ios","apns":{"token":"{{ApnsToken(run, user)}}","environment":"sandbox"} }""";
        }

        if (HasAndroid(user))
        {
            yield return $$"""{"user":"{{name}}","device":"android","platform":"android","fcm":{"token":"{{FcmToken(run, user)}}"} }""";
        }
    }

    private static bool HasIPhone(int user) => user % Kinds is 1 or 3;

    private static bool HasAndroid(int user) => user % Kinds is 2 or 3;

    private static string ApnsToken(BenchRun run, int user) => Convert.ToHexStringLower(SHA256.HashData(Encoding.ASCII.GetBytes(run.Peer.NameOf(user))));

    private static string FcmToken(BenchRun run, int user) => "load:" + run.Peer.NameOf(user);
}
