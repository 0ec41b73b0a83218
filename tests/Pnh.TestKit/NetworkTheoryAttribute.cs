using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using Xunit;

namespace Pnh.TestKit;

/// <summary>A theory that needs an IPv4 address of this machine that is no loopback one. Skipped, visibly, where there is none.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class NetworkTheoryAttribute : TheoryAttribute
{
    public NetworkTheoryAttribute([CallerMemberName] string? test = null)
    {
        if (Address is null && Environment.GetEnvironmentVariable("PNH_REQUIRE_ALL") != "1")
        {
            Skip = "this machine has loopback addresses only";
            DisplayName = SkippedName.Of(test, Skip);
        }
    }

    /// <summary>One of this machine's; null = it has none.</summary>
    public static IPAddress? Address { get; } = NetworkInterface.GetAllNetworkInterfaces()
        .Where(static network => network.OperationalStatus == OperationalStatus.Up)
        .SelectMany(static network => network.GetIPProperties().UnicastAddresses)
        .Select(static unicast => unicast.Address)
        .FirstOrDefault(static address => address.AddressFamily == AddressFamily.InterNetwork && !IPAddress.IsLoopback(address));
}
