using Pnh.Core.Diagnostics;

namespace Pnh.Channels.Links.Protocol;

/// <summary>What a node holds and what it takes.</summary>
/// <param name="Active">Sessions whose app is in front.</param>
/// <param name="Background">Sessions whose app is in the background.</param>
/// <param name="Use">Of its process. Cores and Q-factor travel in thousandths.</param>
internal readonly record struct NodeStatus(long Active, long Background, ProcessUse Use)
{
    /// <summary>The first version of the protocol that has it.</summary>
    public const int Since = 2;

    private const double Fraction = 1000;

    /// <summary>Reads the members of the item.</summary>
    public static NodeStatus Read(ref LinkReader reader)
    {
        var (active, background, served) = (reader.Number(), reader.Number(), reader.Number());
        return new(active, background, new(served, reader.Age(), reader.Number() / Fraction, reader.Number() / Fraction, reader.Number()));
    }

    /// <summary>Says it.</summary>
    public void Write(LinkQueue output)
    {
        using var item = output.Begin(LinkItemKind.Status);
        item.Members.Number(Active).Number(Background).Number(Use.Served).Age(Use.Cpu).Number((long)(Use.Cores * Fraction)).Number((long)(Use.QFactor * Fraction)).Number(Use.Memory);
    }
}
