using System.Text.Json.Serialization;

namespace Pnh.Api.Commands;

/// <summary>Body of <c>POST /keys</c>.</summary>
/// <param name="App">App name.</param>
/// <param name="Scopes">Scope names, at least one.</param>
internal sealed record KeyRequestBody(string App, string[] Scopes);

/// <summary>Answer of <c>POST /keys</c>: the only time that the secret is seen.</summary>
internal sealed record KeyResponseBody(string Key, string App, string[] Scopes);

/// <summary>Answer of <c>POST /console/links</c>.</summary>
/// <param name="Link">With a ticket: whoever has it may sign in with it.</param>
internal sealed record ConsoleLinkBody(string Link);

/// <summary>JSON of what commands ask the running hub, for both sides: strict, without reflection.</summary>
[JsonSourceGenerationOptions(System.Text.Json.JsonSerializerDefaults.Strict, PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase, MaxDepth = 4)]
[JsonSerializable(typeof(KeyRequestBody))]
[JsonSerializable(typeof(KeyResponseBody))]
[JsonSerializable(typeof(ConsoleLinkBody))]
internal sealed partial class OperationsJson : JsonSerializerContext;
