namespace Pnh.Channels.Net.Http2;

/// <summary>
/// Lets what waits for a socket of .NET's go on on the thread that saw its bytes, without a hop to the pool: a push over <see cref="Http2Connection"/> cost 0.57 of
/// h2load's with the hop and 0.81 without it (pushes per CPU second, hub and lane; <c>bench/results/lanes.md</c>). For the whole process, so only where these connections are asked
/// for; what runs there must not block, which is this program's rule anyway.
/// </summary>
internal static class InlineCompletions
{
    /// <summary>Read by .NET's socket engine when the process opens its first socket.</summary>
    internal const string Variable = "DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS";

    /// <summary>Does so, unless the environment says otherwise. Before the first socket; later it changes nothing.</summary>
    public static void Enable()
    {
        if (Environment.GetEnvironmentVariable(Variable) is null)
        {
            Environment.SetEnvironmentVariable(Variable, "1");
        }
    }
}
