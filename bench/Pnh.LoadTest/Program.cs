using System.Text.Json;
using Pnh.LoadTest;
using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Measure;
using Pnh.LoadTest.Overload;
using Pnh.LoadTest.Profiles;

var name = args.Length > 0 && !args[0].StartsWith('-') ? args[0] : "";
switch (name)
{
    case "overload":
        await OverloadProfile.RunAsync(args[1..]);
        return 0;
    case "selfcheck":
        return SelfCheck.Run();
    case "compare":
        await File.WriteAllTextAsync(args[2], Comparison.Of(await File.ReadAllLinesAsync(args[1]), args[3]));
        return 0;
}

if (!Catalogue.Profiles.TryGetValue(name, out var profile))
{
    await Console.Error.WriteLineAsync($"usage: Pnh.LoadTest PROFILE --port P [--peer pnh|nchan|c|signalr] [--key K --secret-file F] [--server PID] …\nprofiles: {string.Join(' ', Catalogue.Profiles.Keys)} overload selfcheck compare");
    return 2;
}

using var run = new BenchRun(new BenchOptions(name, args[1..]));
var result = profile(run);
await Console.Out.WriteLineAsync(run.Options.Json ? JsonSerializer.Serialize(result, BenchJson.Default.BenchResult) : ResultTable.Of(result));
return result.Wrong is { IsClean: false } ? 1 : 0;
