using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Core.Push;

namespace Pnh.Channels;

/// <summary>
/// How a channel makes itself known: its folder derives from this attribute and puts it on the assembly
/// (<c>[assembly: ApnsModule]</c>). <see cref="PushChannelServices.AddPushChannels"/> finds it there; no list, switch or enum names a channel.
/// </summary>
[AttributeUsage(AttributeTargets.Assembly, AllowMultiple = true)]
[SuppressMessage("Naming", "CA1710", Justification = "A module is what it is; that it stands on the assembly as an attribute is how it is found.")]
public abstract class PushChannelModule : Attribute
{
    /// <summary>The channel's name, equal to its <see cref="IPushChannel.Name"/>: lower-case, unique, stable.</summary>
    public abstract string Name { get; }

    /// <summary>
    /// Every configuration key that the channel reads, below <c>Pnh:</c>, <c>*</c> standing for one segment
    /// (<c>Apps:*:Apns:*:TeamId</c>). A key that no pattern covers is refused at start, so a typing error never passes in silence.
    /// </summary>
    public abstract IReadOnlyList<string> ConfigurationKeys { get; }

    /// <summary>
    /// Registers the channel as an <see cref="IPushChannel"/> singleton, and an <see cref="IConfigurationCheck"/> when it
    /// has options. <paramref name="pnhSection"/> is the section <c>Pnh</c>; read it when the services are built, not here.
    /// </summary>
    public abstract void Register(IServiceCollection services, IConfiguration pnhSection);
}
