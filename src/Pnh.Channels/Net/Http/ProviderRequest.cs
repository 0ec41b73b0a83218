using System.Text;
using Pnh.Channels.Provider.Payloads;

namespace Pnh.Channels.Net.Http;

/// <summary>Headers of a 2xx answer that a request wants to see. Answers outside 2xx always bring <c>retry-after</c> and <c>date</c>.</summary>
[Flags]
internal enum WantedHeaders
{
    None = 0,
    Date = 1,
    Location = 2,
    ApnsId = 4,
    ApnsUniqueId = 8,

    /// <summary>What Windows' push service says, of any answer. Read by the framework's transport only.</summary>
    Wns = 16,
}

/// <summary>
/// A POST as parts that are shared and parts that differ, so that a connection can write it without building a string. Large: pass it by
/// reference. Everything in it may be read until the send's <c>ValueTask</c> has completed.
/// </summary>
internal readonly struct ProviderRequest
{
    /// <summary>The shared beginning of <c>:path</c>: <c>/3/device/</c>. Printable ASCII.</summary>
    public required string PathPrefix { get; init; }

    /// <summary>What follows it: a device token; empty = nothing. Printable ASCII, checked at registration.</summary>
    public required string PathEnd { get; init; }

    /// <summary><c>:authority</c>; null = the connection's own, which every provider with one host uses.</summary>
    public string? Authority { get; init; }

    /// <summary>All headers but the pseudo-headers and <c>content-length</c>.</summary>
    public required HeaderList Headers { get; init; }

    /// <summary>The shared parts of the body.</summary>
    public required SplicedBody Body { get; init; }

    /// <summary>ASCII between head and middle, already safe there; empty = no gap.</summary>
    public string FirstGap { get; init; }

    /// <summary>Likewise between middle and tail.</summary>
    public string SecondGap { get; init; }

    /// <summary>What to read of a 2xx answer's headers.</summary>
    public WantedHeaders Wanted { get; init; }

    /// <summary>Told when the body is written; null = it is as soon as the connection has the request.</summary>
    public RequestProgress? Progress { get; init; }

    /// <summary>Bytes of the whole body.</summary>
    public int BodyLength => Body.Length + (FirstGap?.Length ?? 0) + (SecondGap?.Length ?? 0);

    /// <summary>Writes the whole body; <paramref name="buffer"/> has at least <see cref="BodyLength"/> bytes.</summary>
    public void CopyBody(Span<byte> buffer) => Body.CopyTo(buffer, FirstGap, SecondGap);
}

/// <summary>How far a request has come that may wait for a connection below us. Thread-safe.</summary>
internal sealed class RequestProgress
{
    private bool _hasBegun;

    /// <summary>Its body is being written, or was: the provider may carry it out.</summary>
    public bool HasBegun => Volatile.Read(ref _hasBegun);

    public void Begin() => Volatile.Write(ref _hasBegun, true);
}

/// <summary>The shared parts of a body: head, gap, middle, gap, tail. The arrays are never changed.</summary>
internal sealed record SplicedBody(byte[] Head, byte[] Middle, byte[] Tail)
{
    public static readonly SplicedBody Empty = new([], [], []);

    /// <summary>It stands for an event whose payload is larger than the provider takes: <see cref="FetchPush"/>.</summary>
    public bool IsWakeUp { get; init; }

    /// <summary>Bytes of the shared parts.</summary>
    public int Length => Head.Length + Middle.Length + Tail.Length;

    /// <summary>A body without gaps.</summary>
    public static SplicedBody Whole(byte[] bytes) => new(bytes, [], []);

    /// <summary>Writes the body with its gaps filled, both ASCII.</summary>
    public void CopyTo(Span<byte> buffer, string? firstGap, string? secondGap)
    {
        Head.CopyTo(buffer);
        buffer = buffer[Head.Length..];
        buffer = buffer[Encoding.ASCII.GetBytes(firstGap, buffer)..];
        Middle.CopyTo(buffer);
        buffer = buffer[Middle.Length..];
        buffer = buffer[Encoding.ASCII.GetBytes(secondGap, buffer)..];
        Tail.CopyTo(buffer);
    }
}
