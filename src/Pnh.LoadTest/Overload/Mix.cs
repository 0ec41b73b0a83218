namespace Pnh.LoadTest.Overload;

/// <summary>The classes that are sent, and how often each: one call in ten, as most of what a chat service sends is text. Indexed everywhere by position.</summary>
internal static class Mix
{
    public const int Call = 0;
    public const int Message = 1;
    public const int Bulk = 2;

    public static readonly string[] Classes = ["call", "message", "bulk"];

    private static readonly double[] Shares = [0.1, 0.6, 0.3];

    /// <summary>A class for a number from 0 to 1.</summary>
    public static int Pick(double chance)
    {
        for (var i = 0; i < Shares.Length - 1; i++)
        {
            if ((chance -= Shares[i]) < 0)
            {
                return i;
            }
        }

        return Shares.Length - 1;
    }
}
