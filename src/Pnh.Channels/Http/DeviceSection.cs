using System.Text.Json;
using Pnh.Core.Devices;
using Pnh.Core.Events;

namespace Pnh.Channels.Http;

/// <summary>What reading a device's section (<c>"apns":{…}</c>) is the same for in every channel. Pure functions.</summary>
internal static class DeviceSection
{
    /// <summary>Reads a section's members into addresses; see <c>IPushChannel.ReadAddresses</c>.</summary>
    internal delegate void Reader(JsonElement section, DateTimeOffset now, ICollection<PushAddress> addresses, ICollection<FieldError> errors);

    /// <summary>Calls <paramref name="read"/>, and says so when the section's text is none.</summary>
    public static void Read(JsonElement section, DateTimeOffset now, ICollection<PushAddress> addresses, ICollection<FieldError> errors, Reader read)
    {
        try
        {
            read(section, now, addresses, errors);
        }
        catch (InvalidOperationException)
        {
            // Half a surrogate pair in an escape, which shows only when a name or a string is read.
            errors.Add(new FieldError("", "invalid-text", "A name or a string in it is not valid Unicode."));
        }
    }

    /// <summary>A member that nobody knows, <c>Not a member of <paramref name="what"/>.</c></summary>
    /// <param name="parent">Pointer to what it is a member of; empty = the section.</param>
    /// <param name="name">As it came.</param>
    /// <param name="what">For a person.</param>
    public static FieldError Unknown(string parent, string name, string what) =>
        new($"{parent}/{FieldError.Escape(name)}", "unknown-member", $"Not a member of {what}.");
}
