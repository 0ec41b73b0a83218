using Pnh.Core.Sessions;

namespace Pnh.Channels.Links;

/// <summary>What became of a call: whether the hub did not fail; then yes or no; then, of a frame that was not taken (yes), code and message.</summary>
internal readonly record struct LinkAnswer(bool HasFailed, bool Yes, SendRefusal? SendRefusal)
{
    /// <summary>The hub failed.</summary>
    public static LinkAnswer Failed => new(HasFailed: true, Yes: false, null);

    public static LinkAnswer Flag(bool yes) => new(HasFailed: false, yes, null);

    /// <summary>Null = the frame was taken.</summary>
    public static LinkAnswer Refusal(SendRefusal? refusal) => new(HasFailed: false, refusal is not null, refusal);

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
