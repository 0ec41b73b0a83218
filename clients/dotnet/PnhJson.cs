using System.Text.Json;
using System.Text.Json.Serialization;
using Pnh.Client.Events;
using Pnh.Client.Http;
using Pnh.Client.Reports;
using Pnh.Client.Sockets;

namespace Pnh.Client;

/// <summary>All JSON of the client, without reflection.</summary>
[JsonSourceGenerationOptions(JsonSerializerDefaults.Web, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(PnhEvent))]
[JsonSerializable(typeof(PnhReceipt))]
[JsonSerializable(typeof(PnhPlan))]
[JsonSerializable(typeof(PnhTimeline))]
[JsonSerializable(typeof(PnhFeedEntry))]
[JsonSerializable(typeof(PnhUser))]
[JsonSerializable(typeof(PnhPresence))]
[JsonSerializable(typeof(UserEventPage))]
[JsonSerializable(typeof(HubProblem))]
[JsonSerializable(typeof(BatchLine))]
[JsonSerializable(typeof(WithdrawBody))]
[JsonSerializable(typeof(WithdrawAnswer))]
[JsonSerializable(typeof(HelloFrame))]
[JsonSerializable(typeof(ClientFrame))]
[JsonSerializable(typeof(HubFrame))]
internal sealed partial class PnhJson : JsonSerializerContext;
