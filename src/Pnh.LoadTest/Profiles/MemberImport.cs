using System.Net.Sockets;
using System.Text;
using Pnh.LoadTest.Options;

namespace Pnh.LoadTest.Profiles;

/// <summary>Members that topics must have before a profile begins.</summary>
internal static class MemberImport
{
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
