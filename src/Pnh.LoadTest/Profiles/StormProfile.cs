using System.Diagnostics;
using Pnh.LoadTest.Load;
using Pnh.LoadTest.Measure;

namespace Pnh.LoadTest.Profiles;

/// <summary>Every connection is reset at once, an event goes to each user meanwhile, and all come back, with their old session or (<c>--resume false</c>) as new ones.</summary>
internal static class StormProfile
{
    public static BenchResult Run(BenchRun run)
    {
        var users = run.Options.SessionsOr(5000);
        run.RequireOneProcess(users);
        run.Add(users, static _ => []);
        if (!run.Options.Resume)
        {
            // Only a device that the hub knows has a mailbox to come back to.
            DeviceImport.Run(run.Options, Enumerable.Range(0, users).Select(user => $$"""{"user":"{{run.Peer.NameOf(user)}}","device":"tab","platform":"web"}"""));
        }

        run.Open();
        var first = new EachOnce(run, users);
        run.MeasureWarm(first, 0);
        run.Loop.Run(0.5); // a reset throws away the acks that the server has not read, and what is not acknowledged rightly comes again
        var (back, resumed, cpu) = (0.0, 0, 0.0);
        var result = run.MeasureWarm(new EachOnce(run, users, () =>
        {
            foreach (var session in run.Fleet.Sessions)
            {
                session.Resumable = run.Options.Resume ? session.Id : null;
                session.Close(reset: true);
            }

            cpu = run.Server.CpuSeconds;
        }), 0.5, () =>
        {
            var from = Stopwatch.GetTimestamp();
            run.Open();
            back = Stopwatch.GetElapsedTime(from).TotalSeconds;
            resumed = run.Fleet.Sessions.Count(static session => session.WasResumed);
            cpu = run.Server.CpuSeconds - cpu;
        });
        result.Extra["reconnected in, s"] = back;
        result.Extra["resumed"] = resumed;
        result.Extra["CPU of reset, events and reconnect, s"] = cpu;
        return result;
    }

    /// <summary>One event to each user, when it starts.</summary>
    private sealed class EachOnce(BenchRun run, int users, Action? before = null) : ILoad
    {
        public bool IsQuiet => run.Publishers.IsQuiet;

        public void Start()
        {
            before?.Invoke();
            var post = run.Peer.Post(toTopic: false, run.Options.Class);
            var now = Stopwatch.GetTimestamp();
            for (var user = 0; user < users; user++)
            {
                run.Publishers.Post(post, user, now);
            }
        }

        public void Stop()
        {
        }
    }
}
