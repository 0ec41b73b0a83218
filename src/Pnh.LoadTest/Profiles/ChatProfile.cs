using System.Diagnostics;
using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Load;
using Pnh.LoadTest.Measure;

namespace Pnh.LoadTest.Profiles;

/// <summary>
/// Rooms of 100: 10 % of the users write every 11 s, 20 % every 59 s, 70 % only read. Everybody in the room gets everything. A room's messages go over one connection, so that their
/// order is known.
/// </summary>
internal static class ChatProfile
{
    private const int RoomSize = 100;

    public static BenchResult Run(BenchRun run)
    {
        var users = run.Options.SessionsOr(1000);
        run.Add(users, static user => [user / RoomSize]);
        run.Open();
        return run.Measure(new Talk(run, users));
    }

    private sealed class Talk : ILoad
    {
        private readonly BenchRun _run;
        private readonly PriorityQueue<int, long> _next = new();
        private readonly Wire.Template _post;
        private readonly int _users;
        private bool _goesOn;

        public Talk(BenchRun run, int users)
        {
            _run = run;
            _users = users;
            _post = run.Peer.Post(toTopic: true, run.Options.Class);
            run.Loop.Turns.Add(Turn);
        }

        public bool IsQuiet => _run.Publishers.IsQuiet;

        public void Start()
        {
            var random = new Random(20_261_121);
            var now = Stopwatch.GetTimestamp();
            _next.Clear();
            for (var user = 0; user < _users; user++)
            {
                if (Every(user) is > 0 and var every)
                {
                    _next.Enqueue(user, now + (long)(random.NextDouble() * every));
                }
            }

            _goesOn = true;
        }

        public void Stop() => _goesOn = false;

        // By the last digit: chatty, casual, or silent (0).
        private static long Every(int user) => (user % 10) switch { 0 => 11, 1 or 2 => 59, _ => 0 } * Stopwatch.Frequency;

        private void Turn(long now)
        {
            while (_goesOn && _next.TryPeek(out var user, out var due) && due <= now)
            {
                _next.DequeueEnqueue(user, due + Every(user));
                _run.Publishers.Post(_post, MessageLedger.FirstTopic + (user / RoomSize), due);
            }
        }
    }
}
