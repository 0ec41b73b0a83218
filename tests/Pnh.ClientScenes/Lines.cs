using System.Text.Json.Serialization;

namespace Pnh.ClientScenes;

/// <summary>A line to this program; members that its kind does not have are null.</summary>
/// <param name="Do"><c>open</c>, <c>token</c>, <c>handled</c>, <c>close</c>.</param>
/// <param name="User">Whose session.</param>
/// <param name="Url">open: of the socket.</param>
/// <param name="Device">open: its id.</param>
/// <param name="Topics">open: what it joins.</param>
/// <param name="Token">token: the answer; null = the back-end failed.</param>
/// <param name="Id">handled: of the event. token: of the question.</param>
/// <param name="HasFailed">handled: the handler threw.</param>
internal sealed record Order(string Do, string User, Uri? Url, string? Device, string[]? Topics, string? Token, string? Id, bool HasFailed);

/// <summary>A line of this program.</summary>
/// <param name="Is"><c>token</c> (one is asked for), <c>event</c> (to be handled), <c>status</c>, <c>joined</c>.</param>
/// <param name="User">Whose session.</param>
/// <param name="Id">event: its id. token: of the question.</param>
/// <param name="Status">status: as the JavaScript client names it.</param>
/// <param name="Resumed">status open: of the session.</param>
/// <param name="Reason">status waiting and closed: why.</param>
/// <param name="Topics">joined: those of now.</param>
internal sealed record Report(string Is, string User, string? Id = null, string? Status = null, bool? Resumed = null, string? Reason = null, IEnumerable<string>? Topics = null);

/// <summary>Both as JSON.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(Order))]
[JsonSerializable(typeof(Report))]
internal sealed partial class LinesJson : JsonSerializerContext;
