using System.Text.Json;
using Pnh.Core.Events;
using Pnh.Core.Users;

namespace Pnh.Channels.Provider.Payloads;

/// <summary>What reading a device's section (<c>"apns":{…}</c>) is the same for in every channel. Pure functions.</summary>
internal static class DeviceSection
{
    /// <summary>Reads a section's members into addresses; see <c>IPushChannel.ReadAddresses</c>.</summary>
    internal delegate void Reader(JsonElement section, DateTimeOffset now, ICollection<PushAddress> addresses, ICollection<FieldError> errors);

    /// <summary>Calls <paramref name="read"/>, and says so when the section's text is no section or a member stands twice.</summary>
    public static void Read(JsonElement section, DateTimeOffset now, ICollection<PushAddress> addresses, ICollection<FieldError> errors, Reader read)
    {
        try
        {
            // What is wrong gives no address, but all that is wrong is said.
            read(section, now, RefuseTwice(section, "", errors) ? [] : addresses, errors);
        }
        catch (InvalidOperationException)
        {
            // Half a surrogate pair in an escape, which shows only when a name or a string is read.
            errors.Add(new FieldError("", "invalid-text", "A name or a string in it is not valid Unicode."));
        }
    }

    /// <summary>Adds an error for each member that stands twice in an object; true = there was one. Anything else than an object is left to its reader.</summary>
    /// <param name="parent">The object.</param>
    /// <param name="pointer">Pointer to it; empty = the section.</param>
    /// <param name="errors">Receives them.</param>
    public static bool RefuseTwice(JsonElement parent, string pointer, ICollection<FieldError> errors)
    {
        if (parent.ValueKind != JsonValueKind.Object)
        {
            return false;
        }

        var before = errors.Count;
        var seen = new HashSet<string>(StringComparer.Ordinal);
        foreach (var member in parent.EnumerateObject())
        {
            if (!seen.Add(member.Name))
            {
                errors.Add(new FieldError($"{pointer}/{FieldError.Escape(member.Name)}", "duplicate-member", "The member is given twice."));
            }
        }

        return errors.Count > before;
    }

    /// <summary>A member that nobody knows, <c>Not a member of <paramref name="what"/>.</c></summary>
    /// <param name="parent">Pointer to what it is a member of; empty = the section.</param>
    /// <param name="name">As it came.</param>
    /// <param name="what">For a person.</param>
    public static FieldError Unknown(string parent, string name, string what) =>
        new($"{parent}/{FieldError.Escape(name)}", "unknown-member", $"Not a member of {what}.");
}
