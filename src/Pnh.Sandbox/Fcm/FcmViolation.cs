namespace Pnh.Sandbox.Fcm;

/// <summary>An entry of google.rpc.BadRequest.fieldViolations; the field is a path in snake_case, empty when the JSON itself is broken.</summary>
internal readonly record struct FcmViolation(string Field, string Description);
