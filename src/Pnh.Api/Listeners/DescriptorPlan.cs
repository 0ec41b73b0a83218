using System.Globalization;
using System.Runtime.CompilerServices;
using Pnh.Core.Diagnostics;

namespace Pnh.Api.Listeners;

/// <summary>
/// Who gets which share of the descriptors that the process may have open (RLIMIT_NOFILE; the runtime has raised the soft limit to the hard one by itself).
/// </summary>
/// <param name="Limit">Of the process.</param>
/// <param name="Public">Connections of the public listener.</param>
/// <param name="Operations">Connections of the operations listener.</param>
/// <param name="Own">What the hub may still need: provider connections, the journal's next file, reads of the journal, pipes of new threads.</param>
internal sealed record DescriptorPlan(int Limit, int Public, int Operations, int Own)
{
    /// <summary>One address gets at most this part of the public connections, unless the configuration says otherwise.</summary>
    public const int AddressShare = 4;

    // The listeners, the server's own loop and the assemblies that it loads with them: opened after the plan is made.
    private const int Listeners = 18;
    private const int LeastPublic = 6;
    private const int LeastOperations = 4;
    private const int MostOperations = 64;
    private const int LeastOwn = 8;
    private const int MostOwn = 512;
    private const int MostHttp = 1_024;

    // What a hub with one app has open when the plan is made, and a few: with fewer the start fails before that, in whatever it opens next. Nearly all are assemblies,
    // which a program compiled ahead of time does not have.
    private static readonly int LeastLimit = RuntimeFeature.IsDynamicCodeCompiled ? 240 : 50;

    /// <summary>Highest descriptor that a public connection may have: behind it is the reserve.</summary>
    public int HighestPublic => Limit - (Own / 2) - 2;

    /// <summary>Highest descriptor that a connection of the operations listener may have.</summary>
    public int HighestOperations => Limit - (Own / 4) - 2;

    /// <summary>Why no hub can start with a limit of <paramref name="limit"/>, said before anything is opened; null = it may be enough, which <see cref="Make"/> says.</summary>
    public static string? FindProblem(int limit) => limit < LeastLimit ? Describe(limit, $"at least {LeastLimit}") : null;

    /// <summary>Of this process, now, when everything but the listeners is open. Throws <see cref="DescriptorException"/>.</summary>
    public static DescriptorPlan Read() => Make(OpenFiles.Limit(), OpenFiles.CanCount ? (int)OpenFiles.Count() : 0);

    /// <summary>Of a process that may have <paramref name="limit"/> open and has <paramref name="open"/>. Throws <see cref="DescriptorException"/>.</summary>
    public static DescriptorPlan Make(int limit, int open)
    {
        var left = limit - open - Listeners;
        var own = Math.Clamp(left / 4, LeastOwn, MostOwn);
        var operations = Math.Clamp(left / 8, LeastOperations, MostOperations);
        var least = open + Listeners + LeastOwn + LeastOperations + LeastPublic;
        return left - own - operations >= LeastPublic
            ? new DescriptorPlan(limit, left - own - operations, operations, own)
            : throw new DescriptorException(Describe(limit, least.ToString(CultureInfo.InvariantCulture)));
    }

    /// <summary>Of so many public connections those that may be sockets, so that no number of them keeps publishers out: an eighth is for HTTP, 1,024 at most.</summary>
    public static int SocketsOf(int connections) => connections - Math.Min(connections / 8, MostHttp);

    /// <summary>Throws <see cref="DescriptorException"/> when so many sockets do not fit.</summary>
    public void Require(int sockets)
    {
        if (sockets > SocketsOf(Public))
        {
            throw new DescriptorException(string.Create(
                CultureInfo.InvariantCulture,
                $"Pnh:Sockets:MaxConnections is {sockets}, but of the {Limit} files that the process may have open {Public} are left for public connections, some of them for HTTP; give at most {SocketsOf(Public)}, or raise the limit ({DescriptorException.HowToRaise})"));
        }
    }

    private static string Describe(int limit, string least) => string.Create(
        CultureInfo.InvariantCulture, $"the process may have {limit} files open and needs {least}, better 65536: raise the limit ({DescriptorException.HowToRaise})");
}

/// <summary>The process may have too few files open. The message is one line.</summary>
internal sealed class DescriptorException(string message) : Exception(message)
{
    public const string HowToRaise = "ulimit -n, LimitNOFILE= of systemd, --ulimit nofile= of a container";
}
