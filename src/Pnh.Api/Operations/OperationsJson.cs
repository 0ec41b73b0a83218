using System.Text.Json.Serialization;

namespace Pnh.Api.Operations;

/// <summary>Body of <c>POST /keys</c>.</summary>
/// <param name="App">App name.</param>
/// <param name="Scopes">Scope names, at least one.</param>
internal sealed record KeyRequestBody(string App, string[] Scopes);

/// <summary>Answer of <c>POST /keys</c>: the only time that the secret is seen.</summary>
internal sealed record KeyResponseBody(string Key, string App, string[] Scopes);

/// <summary>A key as lists show it.</summary>
/// <param name="Id">The beginning of its SHA-256.</param>
/// <param name="Scopes">Scope names.</param>
/// <param name="MadeAt">When <c>pnh key add</c> made it; null = it stands in the configuration.</param>
internal sealed record KeyBody(string Id, string[] Scopes, DateTimeOffset? MadeAt);

/// <summary>Answer of <c>GET /keys</c>: the configured ones first, then by age.</summary>
internal sealed record KeyListBody(KeyBody[] Keys);

/// <summary>An account of which addresses rest.</summary>
/// <param name="Account">Channel and account, <c>apns/demo/0</c>.</param>
/// <param name="Count">How many addresses; of an answer to release or drop: how many it was.</param>
/// <param name="Reason">The provider's word; null = it gave none.</param>
/// <param name="Since">When the first of them was laid to rest.</param>
internal sealed record RestingAccountBody(string Account, int Count, string? Reason, DateTimeOffset Since);

/// <summary>Answer of <c>GET /addresses</c>.</summary>
internal sealed record RestingListBody(RestingAccountBody[] Accounts);

/// <summary>Answer of <c>POST /console/links</c>.</summary>
/// <param name="Link">With a ticket: its holder may sign in with it.</param>
internal sealed record ConsoleLinkBody(string Link);

/// <summary>JSON of what commands ask the running hub, for both sides: strict, without reflection.</summary>
[JsonSourceGenerationOptions(System.Text.Json.JsonSerializerDefaults.Strict, PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase, MaxDepth = 4)]
[JsonSerializable(typeof(KeyRequestBody))]
[JsonSerializable(typeof(KeyResponseBody))]
[JsonSerializable(typeof(KeyBody))]
[JsonSerializable(typeof(KeyListBody))]
[JsonSerializable(typeof(RestingAccountBody))]
[JsonSerializable(typeof(RestingListBody))]
[JsonSerializable(typeof(ConsoleLinkBody))]
[JsonSerializable(typeof(ClusterBody))]
internal sealed partial class OperationsJson : JsonSerializerContext;
