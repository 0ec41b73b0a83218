using System.Buffers;
using System.Text.Json;
using Pnh.Channels.Provider.Payloads;
using Pnh.Core.Events;
using Pnh.Core.Users;

namespace Pnh.Channels.Fcm;

/// <summary>
/// The <c>fcm</c> section of a device: <c>{"token"}</c> (registration token) or <c>{"fid"}</c> (Firebase installation id), never both, since
/// both reach the same app; <c>"project"</c> beside it for an app with more than one Firebase project, which a token does not tell; <c>"calls":"data"</c> for an app that shows calls itself. Pure functions.
/// </summary>
internal static class FcmAddress
{
    public const string Token = "token";
    public const string Fid = "fid";
    public const string Project = "project";
    public const string Calls = "calls";

    /// <summary>The one value of <see cref="Calls"/>.</summary>
    private const string Data = "data";

    /// <summary>Today's tokens have some 160 characters; Google promises no length.</summary>
    private const int MaxCharacters = 1024;

    // No quote, no backslash, no control character: an address stands in a JSON string as it is.
    private static readonly SearchValues<char> Characters =
        SearchValues.Create("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_:.~%+/=");

    /// <summary>True for text that may be an address; also the promise that it cannot break out of a JSON string.</summary>
    public static bool IsValid(ReadOnlySpan<char> value) =>
        value.Length is > 0 and <= MaxCharacters && !value.ContainsAnyExcept(Characters);

    /// <summary>Whether the app wants calls as data, which it shows itself.</summary>
    public static bool TakesCallsAsData(string kind) => kind.EndsWith(PushAddress.CallsAsData, StringComparison.Ordinal);

    public static bool IsFid(string kind) => kind.StartsWith(Fid, StringComparison.Ordinal);

    public static void Read(JsonElement section, DateTimeOffset now, ICollection<PushAddress> addresses, ICollection<FieldError> errors) =>
        DeviceSection.Read(section, now, addresses, errors, ReadMembers);

    private static void ReadMembers(JsonElement section, DateTimeOffset now, ICollection<PushAddress> addresses, ICollection<FieldError> errors)
    {
        if (section.ValueKind != JsonValueKind.Object)
        {
            errors.Add(new FieldError("", "wrong-type", "Must be an object with token or fid."));
            return;
        }

        var before = errors.Count;
        PushAddress? found = null;
        var (project, ending) = ("", "");
        foreach (var member in section.EnumerateObject())
        {
            if (member.Name is Project)
            {
                project = member.Value.ValueKind == JsonValueKind.String ? member.Value.GetString()! : "";
                if (project.Length is 0 or > 64 || project.AsSpan().ContainsAnyExcept(Characters))
                {
                    errors.Add(new FieldError("/project", "invalid-value", "Must be the id of a Firebase project."));
                }
            }
            else if (member.Name is Calls)
            {
                ending = PushAddress.CallsAsData;
                if (member.Value.ValueKind != JsonValueKind.String || member.Value.GetString() != Data)
                {
                    errors.Add(new FieldError("/calls", "invalid-value", "Must be data: the app shows calls itself. Without it FCM does."));
                }
            }
            else if (member.Name is not (Token or Fid))
            {
                errors.Add(DeviceSection.Unknown("", member.Name, FcmChannel.ChannelName));
            }
            else if (member.Value.ValueKind != JsonValueKind.String)
            {
                errors.Add(new FieldError($"/{member.Name}", "wrong-type", "Must be a string."));
            }
            else if (!IsValid(member.Value.GetString()))
            {
                errors.Add(new FieldError($"/{member.Name}", "invalid-address", "Must be 1 to 1024 letters, digits and -_:.~%+/= as Firebase gave them."));
            }
            else if (found is not null && found.Kind != member.Name)
            {
                errors.Add(new FieldError("", "too-many", "Takes token or fid, not both."));
            }
            else
            {
                found = new PushAddress(FcmChannel.ChannelName, member.Name, member.Value.GetString()!, "", now);
            }
        }

        if (found is null && errors.Count == before)
        {
            errors.Add(new FieldError("", "required", "Needs token or fid."));
        }
        else if (found is not null && errors.Count == before)
        {
            addresses.Add(found with { Kind = found.Kind + ending, Scope = project });
        }
    }

    public static void Write(Utf8JsonWriter section, IEnumerable<PushAddress> addresses)
    {
        foreach (var address in addresses)
        {
            section.WriteString(address.Member, address.Value);
            if (TakesCallsAsData(address.Kind))
            {
                section.WriteString(Calls, Data);
            }

            if (address.Scope.Length > 0)
            {
                section.WriteString(Project, address.Scope);
            }
        }
    }
}
