using Pnh.Core.Sessions;

namespace Pnh.Channels.Links.Protocol;

/// <summary>What became of a call: whether the hub did not fail; then yes or no; then, of a frame that was not taken (yes), code and message.</summary>
/// <param name="HasFailed">The hub failed, or the connection broke before the answer.</param>
/// <param name="Yes">The answer.</param>
/// <param name="SendRefusal">Why a frame was not taken; null = it was, or the call was no frame.</param>
/// <param name="Topics">Of a session that was given away; null = it was not, or the call was no claim.</param>
/// <param name="Pass">Of a session that a client wants; else empty.</param>
internal readonly record struct LinkAnswer(bool HasFailed, bool Yes, SendRefusal? SendRefusal, IReadOnlyList<string>? Topics = null, SessionPass Pass = default)
{
    /// <summary>The hub failed.</summary>
    public static LinkAnswer Failed => new(HasFailed: true, Yes: false, null);

    public static LinkAnswer Flag(bool yes) => new(HasFailed: false, yes, null);

    /// <summary>Null = the frame was taken.</summary>
    public static LinkAnswer Refusal(SendRefusal? refusal) => new(HasFailed: false, refusal is not null, refusal);

    /// <summary>Null = nobody gives the session away.</summary>
    public static LinkAnswer Given(IReadOnlyList<string>? topics) => new(HasFailed: false, topics is not null, null, topics);

    public static LinkAnswer Admitted(SessionPass pass) => new(HasFailed: false, pass.Refusal is null, null, Pass: pass);

    public static LinkAnswer Read(LinkReader reader)
    {
        var answer = reader.Flag()
            ? Flag(reader.Flag())
            : Failed;
        answer = reader.Left == 0 ? answer : answer with { SendRefusal = new SendRefusal(reader.Text(), reader.Text()) };
        reader.End();
        return answer;
    }

    public void Write(LinkWriter members)
    {
        members.Flag(!HasFailed);
        if (!HasFailed)
        {
            members.Flag(Yes);
        }

        if (SendRefusal is { } refusal)
        {
            members.Text(refusal.Code).Text(refusal.Message);
        }
    }
}
