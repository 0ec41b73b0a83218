using System.Security.Cryptography.X509Certificates;
using Pnh.Channels.Provider.Credentials;

namespace Pnh.Channels.Apns;

/// <summary>By what APNs knows us: a provider token in each request, or a client certificate on each connection. Thread-safe.</summary>
internal abstract class ApnsIdentity(TimeProvider time) : IDisposable
{
    private readonly ConfigurationStop _productionStop = new(time);
    private readonly ConfigurationStop _sandboxStop = new(time);

    /// <summary>Another key or certificate took the place of the former: connections that have seen that one are of no use any more.</summary>
    public event Action? Changed;

    /// <summary>The value of the <c>authorization</c> header: the same string until it is renewed; null = none, the connection says it.</summary>
    public virtual string? Authorization => null;

    /// <summary>What connections show; null = nothing.</summary>
    public virtual X509Certificate2? Certificate => null;

    /// <summary>Holds the deliveries of everybody who uses it back while Apple refuses it.</summary>
    public ConfigurationStop Stop { get; } = new(time);

    /// <summary>
    /// The same for one of Apple's two environments: a key made for the other one is refused there alone, and accounts of both may use it.
    /// </summary>
    public ConfigurationStop StopIn(string environment) => environment == ApnsAccounts.Sandbox ? _sandboxStop : _productionStop;

    /// <summary>How long it will be accepted; negative = it is past.</summary>
    public abstract TimeSpan Left { get; }

    /// <summary>For a token that APNs called expired: the one to try instead; null = there is none.</summary>
    public virtual string? Replace(string refused) => null;

    /// <summary>For a header that APNs refused: true = another key is in use meanwhile, whose header is to be tried instead.</summary>
    public virtual bool TryFallBack(string refused) => false;

    /// <summary>APNs took a request with that header.</summary>
    public virtual void Accepted(string authorization)
    {
    }

    public abstract void Dispose();

    protected void RaiseChanged()
    {
        Stop.Renewed();
        _productionStop.Renewed();
        _sandboxStop.Renewed();
        Changed?.Invoke();
    }
}
