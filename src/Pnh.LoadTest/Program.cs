using Pnh.LoadTest;

if (args.Length > 0)
{
    return await LoadTester.RunAsync(args, new Dictionary<string, string>(), Console.Out, Console.Error);
}

await Console.Error.WriteLineAsync($"usage: Pnh.LoadTest PROFILE --port P [--peer pnh|nchan|c|signalr] [--key K --secret-file F] [--server PID] …\nprofiles: {LoadTester.Profiles} compare");
return 2;
