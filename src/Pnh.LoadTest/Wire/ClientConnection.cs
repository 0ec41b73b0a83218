using System.Net;
using Pnh.Channels.Net.Epoll;

namespace Pnh.LoadTest.Wire;

/// <summary>A client's TCP connection on a <see cref="Loop"/>. Holds bytes only while a message is not whole, or the kernel has no room.</summary>
internal abstract unsafe class ClientConnection
{
    private readonly Loop _loop;
    private byte[] _rest = [];
    private byte[] _unsent = [];
    private int _descriptor = -1;
    private bool _stands;

    protected ClientConnection(Loop loop)
    {
        _loop = loop;
    }

    /// <summary>Whether there is a connection, or one on its way.</summary>
    public bool IsOpen => _descriptor >= 0;

    /// <summary>Begins to connect; <see cref="Lost"/> when that fails.</summary>
    public void Connect(IPEndPoint server, IPAddress? from)
    {
        _stands = false;
        _rest = [];
        _unsent = [];
        _descriptor = Connecting.Begin(server, from);
        if (_descriptor < 0)
        {
            throw new InvalidOperationException($"no socket: errno {Syscalls.Errno}");
        }

        _loop.Add(_descriptor, this);
    }

    /// <summary>Gone at once; with <paramref name="reset"/> the peer gets an RST, as from a machine that lost its network. No <see cref="Lost"/> follows.</summary>
    public void Close(bool reset)
    {
        if (_descriptor >= 0)
        {
            if (reset)
            {
                Syscalls.ResetOnClose(_descriptor);
            }

            _loop.Forget(_descriptor);
            _ = Syscalls.Close(_descriptor);
            _descriptor = -1;
        }
    }

    /// <summary>Sends; what the kernel has no room for goes later, in order.</summary>
    public void Send(ReadOnlySpan<byte> bytes)
    {
        if (_descriptor < 0)
        {
            return;
        }

        var sent = _unsent.Length > 0 ? 0 : Write(bytes);
        if (sent < bytes.Length)
        {
            _unsent = [.. _unsent, .. bytes[sent..]];
            _loop.Await(_descriptor, room: true);
        }
    }

    internal void Serve(int events)
    {
        if (!_stands)
        {
            if ((events & ~Syscalls.EpollIn) == 0)
            {
                return; // of the connection that had this number before, in the same turn
            }

            _stands = Connecting.Stands(_descriptor);
            if (!_stands)
            {
                Fail();
                return;
            }

            _loop.Await(_descriptor, room: false);
            Connected();
        }

        if ((events & Syscalls.EpollOut) != 0 && _unsent.Length > 0)
        {
            _unsent = _unsent[Write(_unsent)..];
            if (_unsent.Length == 0)
            {
                _loop.Await(_descriptor, room: false);
            }
        }

        if ((events & ~Syscalls.EpollOut) != 0 && _descriptor >= 0)
        {
            Read();
        }
    }

    /// <summary>The connection stands.</summary>
    protected abstract void Connected();

    /// <summary>What arrived and was not used up yet. Gives how much is used up now.</summary>
    protected abstract int Receive(ReadOnlySpan<byte> bytes);

    /// <summary>The peer closed it, or it failed.</summary>
    protected abstract void Lost();

    private void Read()
    {
        var input = _loop.Input;
        _rest.CopyTo(input, 0);
        nint read;
        fixed (byte* start = input)
        {
            read = Syscalls.Receive(_descriptor, start + _rest.Length, (nuint)(input.Length - _rest.Length), Syscalls.ReceiveNow);
        }

        if (read <= 0)
        {
            if (read == 0 || Syscalls.Errno != Syscalls.Again)
            {
                Fail();
            }

            return;
        }

        var bytes = input.AsSpan(0, _rest.Length + (int)read);
        var used = Receive(bytes);
        _rest = used == bytes.Length ? [] : bytes[used..].ToArray();
    }

    private int Write(ReadOnlySpan<byte> bytes)
    {
        fixed (byte* start = bytes)
        {
            // A broken connection is seen by the next read.
            return (int)Math.Max(0, Syscalls.Send(_descriptor, start, (nuint)bytes.Length, Syscalls.SendNow));
        }
    }

    private void Fail()
    {
        Close(reset: false);
        Lost();
    }
}
