using Pnh.Api.Configuration;
using Pnh.Api.WebConsole;

namespace Pnh.Api.FirstStart;

/// <summary>What a start prints: where the console is, and on the demo app a command to paste and what it makes appear.</summary>
internal static class Welcome
{
    /// <summary>Writes it, in one piece.</summary>
    /// <param name="output">Where to.</param>
    /// <param name="publicAddress">The public listener.</param>
    /// <param name="operationsAddress">The operations listener.</param>
    /// <param name="consoleLink">One-time link; null where what is written is kept and read by others: then it says how to get one.</param>
    /// <param name="demoKey">The demo's publisher key; null when apps are configured.</param>
    /// <param name="sandbox">Whether the fake phones are there.</param>
    public static void Write(TextWriter output, Uri publicAddress, Uri operationsAddress, Uri? consoleLink, string? demoKey, bool sandbox)
    {
        output.WriteLine($"PNH {ProgramVersion.Text} is running.");
        output.WriteLine();
        output.WriteLine(consoleLink is null
            ? $"Console: {new Uri(operationsAddress, ConsoleEndpoints.Path)}\n  pnh console, run as this hub's user with its configuration, prints a link that signs one browser in."
            : $"Console, works once and for {ConsoleAccess.LinkLife.TotalMinutes:0} minutes; pnh console prints another link:\n  {consoleLink}");
        if (demoKey is not null)
        {
            output.WriteLine($$$"""

                Send the demo user Ada a call:
                  curl -sS {{{new Uri(publicAddress, "/v1/events")}}} -H 'Authorization: Bearer {{{demoKey}}}' -H 'Content-Type: application/json' -d '{"to":{"user":"{{{DemoApp.User}}}"},"class":"call","data":{"from":"grace"},"notification":{"title":"Grace","body":"is calling"}}'

                """);
            output.WriteLine(sandbox
                ? "It rings on the lock screens of Ada's fake iPhone and Android phone, which the console shows,\nand arrives in the console's panel \"This tab\", which is a real socket of Ada's.\nWith \"class\":\"message\" the phones stay silent as long as that tab is in front and acknowledges."
                : "There are no providers (Pnh:Sandbox=false): it reaches open sockets only.");
        }

        output.WriteLine();
        output.Flush();
    }

    /// <summary>What an edge prints.</summary>
    public static void WriteEdge(TextWriter output, Uri publicAddress)
    {
        output.WriteLine($"PNH {ProgramVersion.Text} is running: an edge, which takes sockets at {new Uri(publicAddress, "/v1/socket")} for its hub.");
        output.Flush();
    }
}
