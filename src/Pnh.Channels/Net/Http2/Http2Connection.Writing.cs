using System.Buffers.Binary;
using System.Runtime.InteropServices;
using Pnh.Channels.Net.Http;

namespace Pnh.Channels.Net.Http2;

/// <summary>The writer: one loop, one write at a time, everything that is ready in it.</summary>
internal sealed partial class Http2Connection
{
    /// <summary>Four TLS records; about 180 small pushes. What is ready beyond that goes into the next write.</summary>
    private const int BatchBytes = 64 * 1024;

    /// <summary>A request's headers and frames as a guess, before they are encoded.</summary>
    private const int RequestOverhead = 128;

    /// <summary>For all streams together; answers to pushes are a few hundred bytes.</summary>
    private const int ConnectionWindow = 1024 * 1024;

    /// <summary>Twice what is kept of a body: it ends or is cut before a stream needs a window update.</summary>
    private const int StreamWindow = 2 * ProviderAnswer.MaxBodyBytes;

    private static readonly TimeSpan GoAwayLimit = TimeSpan.FromSeconds(1);

    private readonly FrameBuffer _out = new(16 * 1024);
    private readonly RequestWriter _writer;
    private readonly List<WriteItem> _batch = [];

    private bool _writing;

    // What the peer's SETTINGS said last; the writer takes them over with its next batch, the one that carries our acknowledgement.
    private uint _peerTableBytes = HpackEncoder.TableBytes;
    private uint _peerTableLeast = HpackEncoder.TableBytes;
    private int _peerMaxFrame = Http2FrameHeader.DefaultMaxLength;
    private uint _peerMaxHeaderList = uint.MaxValue;

    private async Task WriteAsync()
    {
        AppendPreface();
        while (true)
        {
            if (!FillBatch())
            {
                break;
            }

            if (_out.Length == 0)
            {
                await _wake.WaitAsync();
                continue;
            }

            await _stream.WriteAsync(_out.Memory);
            _out.Truncate(0);
        }

        // Ended: the peer may still want to know why, but we do not wait for it.
        if (_out.Length > 0)
        {
            using var limit = new CancellationTokenSource(GoAwayLimit, _time);
            await _stream.WriteAsync(_out.Memory, limit.Token);
        }
    }

    private void AppendPreface()
    {
        _out.Append("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"u8);
        Span<byte> settings = stackalloc byte[24];
        WriteSetting(settings, SettingId.HeaderTableSize, DecoderTableBytes);
        WriteSetting(settings[6..], SettingId.EnablePush, 0);
        WriteSetting(settings[12..], SettingId.InitialWindowSize, StreamWindow);
        WriteSetting(settings[18..], SettingId.MaxHeaderListSize, (uint)_limits.MaxHeaderListBytes);
        _out.AppendFrame(FrameType.Settings, FrameFlags.None, 0, settings);
        _out.AppendFrame(FrameType.WindowUpdate, 0, ConnectionWindow - Http2Streams.DefaultWindow);
    }

    private static void WriteSetting(Span<byte> target, SettingId id, uint value)
    {
        BinaryPrimitives.WriteUInt16BigEndian(target, (ushort)id);
        BinaryPrimitives.WriteUInt32BigEndian(target[2..], value);
    }

    /// <summary>Adds all that is ready to the buffer; false when the connection has ended and only a last word may be in it.</summary>
    private bool FillBatch()
    {
        int requests;
        lock (_sync)
        {
            AppendControl();
            if (_ended)
            {
                _writing = false;
                return false;
            }

            _writer.TableLimit = _peerTableLeast;
            _writer.TableLimit = _peerTableLeast = _peerTableBytes;
            _writer.MaxFrame = _peerMaxFrame;
            PickBatch();
            requests = _out.Length;
            _writing = requests > 0;
        }

        foreach (ref readonly var item in CollectionsMarshal.AsSpan(_batch))
        {
            Encode(item);
        }

        var goesOn = _batch.Count == 0 || SettleBatch(requests);
        FlushCompleted();
        return goesOn;
    }

    private void AppendControl()
    {
        _out.Append(_control.Written);
        _control.Truncate(0);
    }

    /// <summary>Under the lock: those that may go on, then new ones.</summary>
    private void PickBatch()
    {
        _streams.TakeUnblocked(_batch);
        var bytes = 0;
        while (bytes < BatchBytes && _streams.CanStart)
        {
            if (_peerMaxHeaderList != uint.MaxValue && _writer.ListBytes(_streams.FirstWaiting!.Request) > _peerMaxHeaderList)
            {
                Finish(_streams.FirstWaiting, SendFault.NotSent, "headers-too-large");
                continue;
            }

            var item = _streams.Charge(_streams.Start());
            bytes += item.Count + RequestOverhead;
            _batch.Add(item);
        }

        if (_streams.IsExhausted)
        {
            StopAccepting();
        }
    }

    private void Encode(in WriteItem item)
    {
        var exchange = item.Exchange;
        if (!exchange.IsSent)
        {
            _writer.WriteHeaders(exchange.Request, exchange.Stream, exchange.BodyLength);
        }

        _writer.WriteBody(exchange.Request, exchange.Stream, item.Offset, item.Count, exchange.BodyLength);
    }

    /// <summary>
    /// The requests are copied: lets ends that came meanwhile happen. False when the connection has ended: the batch, which begins at
    /// <paramref name="start"/>, is not sent.
    /// </summary>
    private bool SettleBatch(int start)
    {
        lock (_sync)
        {
            foreach (var (exchange, _, _) in _batch)
            {
                exchange.State = ExchangeState.Open;
                exchange.IsSent |= !_ended;
                if (exchange.IsEndPending)
                {
                    Complete(exchange);
                }
                else if (exchange.BodySent < exchange.BodyLength)
                {
                    _streams.Block(exchange);
                }
            }

            _batch.Clear();
            _writing = !_ended;
            if (_ended)
            {
                _out.Truncate(start);
                AppendControl();
            }

            return !_ended;
        }
    }

    /// <summary>Ends that the writer brought about itself.</summary>
    private void FlushCompleted()
    {
        if (!_completed.IsEmpty)
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }
}
