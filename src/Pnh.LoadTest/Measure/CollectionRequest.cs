using System.Buffers.Binary;
using System.Globalization;
using System.Net.Sockets;
using System.Text;

namespace Pnh.LoadTest.Measure;

/// <summary>
/// Has a .NET process collect its garbage: an event session with the runtime's keyword for heap collection, over the diagnostics socket that every .NET process opens (the
/// runtime's "Diagnostic IPC Protocol", command CollectTracing).
/// </summary>
internal static class CollectionRequest
{
    private const ulong HeapCollect = 0x80_0000;

    /// <summary>False = not a .NET process of this user.</summary>
    public static bool Send(int process)
    {
        // With the start's time in its name: a killed process leaves its socket, and another one gets its id.
        var name = string.Create(CultureInfo.InvariantCulture, $"dotnet-diagnostic-{process}-{ServerProcess.StartTicks(process)}-socket");
        var path = Path.Combine(Path.GetTempPath(), name);
        if (!File.Exists(path))
        {
            return false;
        }

        using var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified) { ReceiveTimeout = 3000 };
        socket.Connect(new UnixDomainSocketEndPoint(path));
        socket.Send(Request());

        // The session ends with the connection; reading lets the collection come to its end.
        var buffer = new byte[64 * 1024];
        try
        {
            while (socket.Receive(buffer) > 0)
            {
            }
        }
        catch (SocketException)
        {
            // Nothing more comes: it is collected.
        }

        return true;
    }

    private static byte[] Request()
    {
        const string Provider = "Microsoft-Windows-DotNETRuntime\0";
        using var payload = new MemoryStream();
        using var writer = new BinaryWriter(payload);
        writer.Write(4); // MB of buffer
        writer.Write(1); // format: nettrace
        writer.Write(1); // providers
        writer.Write(HeapCollect);
        writer.Write(5); // verbose
        writer.Write(Provider.Length);
        writer.Write(Encoding.Unicode.GetBytes(Provider));
        writer.Write(0); // no arguments
        var body = payload.ToArray();
        var request = new byte[20 + body.Length];
        "DOTNET_IPC_V1\0"u8.CopyTo(request);
        BinaryPrimitives.WriteUInt16LittleEndian(request.AsSpan(14), (ushort)request.Length);
        request[16] = 2; // EventPipe
        request[17] = 2; // CollectTracing
        body.CopyTo(request, 20);
        return request;
    }
}
