using Pnh.Core.Diagnostics;

namespace Pnh.Channels.Links.Protocol;

/// <summary>What a node holds and what it takes.</summary>
/// <param name="Active">Sessions whose app is in front.</param>
/// <param name="Background">Sessions whose app is in the background.</param>
/// <param name="Use">Of its process. Cores and Q-factor travel in thousandths.</param>
/// <param name="Over">Frames that its sessions took and did not write, since their event's time was over; since the process started. Of an edge up to version 4 always 0.</param>
internal readonly record struct NodeStatus(long Active, long Background, ProcessUse Use, long Over)
{
    private const double Fraction = 1000;

    /// <summary>Reads the members of the item.</summary>
    public static NodeStatus Read(ref LinkReader reader)
    {
        var (active, background, served) = (reader.Number(), reader.Number(), reader.Number());
        var use = new ProcessUse(served, reader.Age(), reader.Number() / Fraction, reader.Number() / Fraction, reader.Number());
        return new(active, background, use, reader.Left == 0 ? 0 : reader.Number());
    }

    /// <summary>Says it.</summary>
    public void Write(LinkQueue output)
    {
        using var item = output.Begin(LinkItemKind.Status);
        item.Members.Number(Active).Number(Background).Number(Use.Served).Age(Use.Cpu).Number((long)(Use.Cores * Fraction)).Number((long)(Use.QFactor * Fraction)).Number(Use.Memory).Number(Over);
    }
}
