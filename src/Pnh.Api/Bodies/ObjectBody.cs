using System.Text.Json;
using Pnh.Core.Events;

namespace Pnh.Api.Bodies;

/// <summary>A request's body that is one JSON object.</summary>
internal static class ObjectBody
{
    /// <summary>Reads the object's members from the cursor on its opening brace, up to <see cref="JsonCursor.LeaveBody"/>.</summary>
    public delegate T? Members<out T>(ref JsonCursor cursor);

    /// <summary>What its members say; null with its errors when the body is not right. Of one that is not JSON that is the only error.</summary>
    public static T? Read<T>(ReadOnlyMemory<byte> body, ICollection<FieldError> errors, Members<T> read)
        where T : class
    {
        var before = errors.Count;
        try
        {
            var cursor = new JsonCursor(body, errors);
            var value = cursor.EnterBody() ? read(ref cursor) : null;
            return errors.Count == before ? value : null;
        }
        catch (JsonException)
        {
            errors.Clear();
            errors.Add(FieldError.NoJson);
            return null;
        }
    }
}
