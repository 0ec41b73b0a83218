using System.Net.Sockets;
using System.Text;
using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Options;

namespace Pnh.LoadTest.Profiles;

/// <summary>Members that topics must have before a profile begins.</summary>
internal static class MemberImport
{
    /// <summary>Registers a tab for each user and makes all of them members of the first topic; of several processes of a run the first does it, where sessions are members'.</summary>
    public static void FillFirstTopic(BenchRun run, int from, int count)
    {
        if (run.Options is not { IsMembers: true, Share: 0 })
        {
            return;
        }

        string[] users = [.. Enumerable.Range(from, count).Select(run.Peer.NameOf)];
        DeviceImport.Run(run.Options, users.Select(static user => $$"""{"user":"{{user}}","device":"tab","platform":"web"}"""));
        Run(run.Options, users.Select(user => (run.Peer.NameOf(MessageLedger.FirstTopic), user)));
    }

    /// <summary>Makes each user a member of the topic beside them, one PUT after the other on one connection; throws when the hub did not take one.</summary>
    public static void Run(BenchOptions options, IEnumerable<(string Topic, string User)> members)
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        socket.Connect(options.Host, options.Port);
        var buffer = new byte[16 * 1024];
        foreach (var (topic, user) in members)
        {
            socket.Send(Encoding.ASCII.GetBytes(FormattableString.Invariant(
                $"PUT /v1/topics/{topic}/members/{user} HTTP/1.1\r\nHost: {options.Host}\r\nAuthorization: Bearer {options.Key}\r\nContent-Length: 0\r\n\r\n")));
            var answer = Encoding.ASCII.GetString(buffer, 0, socket.Receive(buffer));
            if (!answer.StartsWith("HTTP/1.1 204 ", StringComparison.Ordinal))
            {
                throw new InvalidOperationException($"{user} became no member: {answer}");
            }
        }
    }
}
