using System.Text.Json;
using System.Text.Json.Serialization;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Api.WebConsole;

/// <summary>The page's JSON: camelCase, enums by their labels, nulls left out.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    Converters =
    [
        typeof(LabelConverter<EventClass>), typeof(LabelConverter<EventResult>), typeof(LabelConverter<DeliveryStatus>),
        typeof(LabelConverter<Platform>), typeof(LabelConverter<SessionState>),
    ])]
[JsonSerializable(typeof(ConsoleSnapshot))]
[JsonSerializable(typeof(TabToken))]
internal sealed partial class ConsoleJson : JsonSerializerContext;

/// <summary>An enum's members in snake_case, which is what their metric labels are.</summary>
internal sealed class LabelConverter<TEnum> : JsonStringEnumConverter<TEnum>
    where TEnum : struct, Enum
{
    public LabelConverter()
        : base(JsonNamingPolicy.SnakeCaseLower, allowIntegerValues: false)
    {
    }
}
