using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Channels.Provider.Connections;

namespace Pnh.Channels.Tests.Http;

/// <summary>What a sender needs from the process, trusting the test authority for one origin.</summary>
internal static class TestServices
{
    public static ProviderServices For(Uri origin, TimeProvider time, ConnectionTransports? transports = null)
    {
        var trust = new ProviderTrust();
        trust.Trust(origin, TestAuthority.Certificate);
        return new ProviderServices(trust, new ProviderGauges("test", time, NullLogger.Instance), time, NullLoggerFactory.Instance, transports ?? new ConnectionTransports(TimeProvider.System));
    }
}
