using Pnh.Api.Bodies;
using Pnh.Core.Events;

namespace Pnh.Api.Endpoints;

/// <summary>The body of <c>POST /v1/topics/{topic}/members</c>.</summary>
/// <param name="Add">Users who become members, <see cref="Limits.TargetUsers"/> at most.</param>
/// <param name="Remove">Users whose membership ends, as many.</param>
internal sealed record MemberChanges(IReadOnlyList<string> Add, IReadOnlyList<string> Remove)
{
    // Of 1,000 users each, with ids of 128 characters.
    internal const int BodyBytes = RequestBody.LargestLimit;

    /// <summary>Null with its errors when the body is not right.</summary>
    internal static MemberChanges? Read(ReadOnlyMemory<byte> body, List<FieldError> errors) => ObjectBody.Read(body, errors, ReadMembers);

    private static MemberChanges ReadMembers(ref JsonCursor cursor)
    {
        List<string> add = [];
        List<string> remove = [];
        var seen = 0u;
        while (cursor.NextMember(out var name))
        {
            if (name.SequenceEqual("add"u8))
            {
                cursor.Once(ref seen, 0, "/add");
                add = cursor.ReadNames("/add", Limits.TargetUsers);
            }
            else if (name.SequenceEqual("remove"u8))
            {
                cursor.Once(ref seen, 1, "/remove");
                remove = cursor.ReadNames("/remove", Limits.TargetUsers);
            }
            else
            {
                cursor.Unknown("", name);
            }
        }

        cursor.LeaveBody();
        if (seen == 0)
        {
            cursor.Fail("/add", "required", "Say in add who becomes a member, or in remove whose membership ends.");
        }

        return new MemberChanges(add, remove);
    }
}
