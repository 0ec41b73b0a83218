namespace Pnh.Channels.Net.Epoll;

/// <summary>What a turn does for one connection.</summary>
internal sealed unsafe partial class SocketLoop
{
    private void Begin(LoopSocket socket)
    {
        var descriptor = socket.Descriptor;
        if (descriptor < 0)
        {
            return;
        }

        if (descriptor >= _sockets.Length)
        {
            Array.Resize(ref _sockets, Math.Max(descriptor + 1, _sockets.Length * 2));
        }

        _sockets[descriptor] = socket;
        Volatile.Write(ref _count, _count + 1);
        socket.Client.Opened(socket);
        if (Syscalls.Control(Epoll, Syscalls.EpollAdd, descriptor, Syscalls.EpollIn) < 0)
        {
            Gone(socket);
        }
    }

    // Nothing is received between the two, so what is older comes first; the client may pause again.
    private static void Resume(LoopSocket socket)
    {
        socket.ReadAgain();
        if (socket.Descriptor >= 0 && socket.IsReading && socket.Rest.Length > 0)
        {
            Deliver(socket);
        }
    }

    private void Serve(byte* record)
    {
        var descriptor = EpollRecord.Descriptor(record);
        if (descriptor == _event)
        {
            ulong value;
            _ = Syscalls.Read(_event, &value, sizeof(ulong));
            Volatile.Write(ref _signaled, 0);
            return;
        }

        // Null: closed earlier in this turn. A connection that got its number meanwhile is asked in vain, no more.
        if (descriptor < _sockets.Length && _sockets[descriptor] is { } socket)
        {
            ServeSafely(socket, EpollRecord.Events(record));
            return;
        }

        foreach (var listener in _listeners)
        {
            if (listener.Descriptor == descriptor)
            {
                listener.AcceptWaiting();
                return;
            }
        }
    }

    private void ServeSafely(LoopSocket socket, int events)
    {
        try
        {
            if ((events & Syscalls.EpollOut) != 0)
            {
                socket.RoomFound();
                socket.Client.HasRoom(socket);
            }

            if ((events & Syscalls.EpollIn) != 0)
            {
                Read(socket);
            }
            else if ((events & (Syscalls.EpollError | Syscalls.EpollHangup)) != 0)
            {
                Gone(socket); // both ways are closed: nobody is there to write to
            }
        }
        catch (Exception bug)
        {
            Log.Failed(_log, bug);
            Gone(socket);
        }
    }

    private void Read(LoopSocket socket)
    {
        ref var rest = ref socket.Rest;
        if (rest.Length > ReceiveBytes / 4)
        {
            var room = rest.Room(ReceiveBytes / 4);
            fixed (byte* start = room)
            {
                if (Took(socket, Syscalls.Receive(socket.Descriptor, start, (nuint)room.Length, Syscalls.ReceiveNow)) is > 0 and var count)
                {
                    rest.Received(count);
                    Deliver(socket);
                }
            }

            return;
        }

        // Half a header of a thousand connections must not hold a thousand receive buffers: what is left over comes in front of what arrives.
        var kept = rest.Length;
        rest.Span.CopyTo(_buffer);
        fixed (byte* start = _buffer)
        {
            if (Took(socket, Syscalls.Receive(socket.Descriptor, start + kept, (nuint)(ReceiveBytes - kept), Syscalls.ReceiveNow)) is > 0 and var count)
            {
                rest.Clear();
                count += kept;
                var used = Give(socket, _buffer.AsSpan(0, count));
                if (used < count && socket.Descriptor >= 0)
                {
                    rest.Keep(_buffer.AsSpan(used, count - used));
                }
            }
        }
    }

    // The client that takes a connection over reads what the one before it left, such as frames right behind an upgrade.
    private static int Give(LoopSocket socket, ReadOnlySpan<byte> bytes)
    {
        var used = 0;
        ILoopClient client;
        do
        {
            client = socket.Client;
            used += client.Receive(socket, bytes[used..]);
        }
        while (used < bytes.Length && !ReferenceEquals(client, socket.Client));
        return used;
    }

    private static void Deliver(LoopSocket socket)
    {
        var used = Give(socket, socket.Rest.Span);
        if (socket.Descriptor >= 0)
        {
            socket.Rest.Use(used);
        }
        else
        {
            socket.Rest.Clear();
        }
    }

    // How many bytes came; 0 = none now, or the end, which was dealt with.
    private int Took(LoopSocket socket, nint received)
    {
        if (received > 0)
        {
            return (int)received;
        }

        if (received < 0 && Syscalls.Errno is Syscalls.Again or Syscalls.Interrupted)
        {
            return 0;
        }

        if (received == 0 && socket.Client.Ended(socket))
        {
            socket.PauseReading(); // an end is readable for ever
        }
        else
        {
            Gone(socket);
        }

        return 0;
    }

    private void Gone(LoopSocket socket)
    {
        if (!socket.CloseNow())
        {
            return;
        }

        try
        {
            socket.Client.Closed(socket);
        }
        catch (Exception bug)
        {
            Log.Failed(_log, bug);
        }
    }
}
