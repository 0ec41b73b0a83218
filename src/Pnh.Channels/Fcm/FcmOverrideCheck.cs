using System.Collections.Frozen;
using System.Text.Json;
using System.Text.Json.Nodes;
using Pnh.Channels.Provider.Payloads;
using Pnh.Core.Events;

namespace Pnh.Channels.Fcm;

/// <summary>
/// What FCM would surely refuse of an <c>fcm</c> override, found when the event is taken in: members that its schema does not know, values that are no text where it
/// takes texts only, reserved names, too much of it. FCM: REST resource projects.messages; names in snake_case or camelCase. Pure.
/// </summary>
internal static class FcmOverrideCheck
{
    private static readonly FrozenSet<string> Targets = FcmMessage.Targets.ToFrozenSet(StringComparer.Ordinal);

    public static void Check(ReadOnlyMemory<byte> json, ICollection<FieldError> errors)
    {
        if (PayloadMerge.CheckOverride(json, errors) is not { } patch)
        {
            return;
        }

        Check(patch, FcmFields.Message, "", errors);
        CheckData(patch["data"], "/data", errors);
        CheckData(InnerData(patch["android"]), "/android/data", errors);
        CheckData(InnerData(patch["webpush"]), "/webpush/data", errors);
        if (FcmFields.Message.Rename(patch, "", errors) is { } renamed && FcmMessage.PayloadBytes(renamed) > FcmMessage.MaxPayloadBytes)
        {
            errors.Add(PayloadMerge.TooLong(FcmMessage.MaxPayloadBytes));
        }
    }

    private static void Check(JsonObject members, FcmFields fields, string pointer, ICollection<FieldError> errors)
    {
        foreach (var (name, value) in members)
        {
            if (value is null || errors.Count > Limits.FieldErrors)
            {
                // A null removes, which no provider sees; of too many errors the first are told.
                continue;
            }

            var own = $"{pointer}/{FieldError.Escape(name)}";
            if (fields.IsTexts)
            {
                if (value.GetValueKind() != JsonValueKind.String)
                {
                    errors.Add(new FieldError(own, "wrong-type", "Must be a string: FCM takes nothing else there."));
                }
            }
            else if (pointer.Length == 0 && Targets.Contains(name))
            {
                errors.Add(new FieldError(own, "unknown-member", "The hub itself names the target."));
            }
            else if (!fields.TryGet(name, out var inner))
            {
                errors.Add(DeviceSection.Unknown(pointer, name, "FCM's message at this place"));
            }
            else if (inner is not null && value is JsonObject nested)
            {
                Check(nested, inner, own, errors);
            }
            else if (inner is not null)
            {
                errors.Add(new FieldError(own, "wrong-type", "Must be an object."));
            }
        }
    }

    private static JsonNode? InnerData(JsonNode? part) => (part as JsonObject)?["data"];

    private static void CheckData(JsonNode? data, string pointer, ICollection<FieldError> errors)
    {
        foreach (var (key, value) in data as JsonObject ?? [])
        {
            if (value is not null && FcmMessage.IsReserved(key))
            {
                errors.Add(new FieldError($"{pointer}/{FieldError.Escape(key)}", "invalid-value", "FCM keeps this name for itself."));
            }
        }
    }
}
