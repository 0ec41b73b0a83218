using Pnh.Channels.Net.Http;
using Pnh.Channels.Net.Http2;
using Pnh.Channels.Tests.Apns;
using Pnh.Channels.Tests.Fcm;
using Pnh.Channels.Tests.Http;
using Pnh.Channels.Tests.Http.Wire;

namespace Pnh.Channels.Tests.Http2;

/// <summary>Our own connection against the specification of all.</summary>
public sealed class DirectConnectionTests : ConnectionSpecification
{
    private protected override IConnectionTransport Transport { get; } = new DirectTransport(TimeProvider.System);
}

/// <summary>What holds for a push to Apple holds over our own connections.</summary>
public sealed class DirectApnsSenderTests : ApnsSenderTests
{
    public DirectApnsSenderTests() => ChannelHost.Transport.Value = ChannelHost.Direct;
}

/// <summary>What holds for a push to Google holds over our own connections.</summary>
public sealed class DirectFcmSenderTests : FcmSenderTests
{
    public DirectFcmSenderTests() => ChannelHost.Transport.Value = ChannelHost.Direct;
}
