namespace Pnh.Core.Events;

/// <summary>Adds an error for each thing in a raw override that its provider would surely refuse; pointers are relative to the override.</summary>
public delegate void OverrideCheck(ReadOnlyMemory<byte> json, EventClass @class, ICollection<FieldError> errors);
