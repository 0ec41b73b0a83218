using System.Text.Json.Nodes;
using Pnh.Channels.Provider.Payloads;
using Pnh.Core.Events;

namespace Pnh.Channels.Apns;

/// <summary>What APNs would surely refuse of an <c>apns</c> override, found when the event is taken in. Members beside <c>aps</c>, and those in it, are the app's. Pure.</summary>
internal static class ApnsOverrideCheck
{
    public static void Check(ReadOnlyMemory<byte> json, EventClass @class, ICollection<FieldError> errors)
    {
        if (PayloadMerge.CheckOverride(json, errors) is not { } patch)
        {
            return;
        }

        if (patch.TryGetPropertyValue("aps", out var aps) && aps is not JsonObject)
        {
            errors.Add(new FieldError("/aps", "wrong-type", "Must be an object: APNs takes no payload without it."));
        }

        // A call may go to a VoIP token, which takes more.
        var most = (@class == EventClass.Call ? ApnsPushType.Voip : ApnsPushType.Alert).MaxPayloadBytes;
        PayloadMerge.RemoveNulls(patch, depth: 0);
        if (aps is JsonObject members)
        {
            PayloadMerge.RemoveNulls(members, depth: 0);
        }

        if (PayloadMerge.Write(patch).Length > most)
        {
            errors.Add(PayloadMerge.TooLong(most));
        }
    }
}
