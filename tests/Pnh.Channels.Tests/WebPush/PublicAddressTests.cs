using System.Net;
using Pnh.Channels.WebPush;

namespace Pnh.Channels.Tests.WebPush;

public sealed class PublicAddressTests
{
    [Theory]
    [InlineData("0.0.0.0")]
    [InlineData("10.1.2.3")]
    [InlineData("100.64.0.1")]
    [InlineData("100.100.100.200")]
    [InlineData("100.127.255.255")]
    [InlineData("127.0.0.1")]
    [InlineData("127.255.255.254")]
    [InlineData("168.63.129.16")]
    [InlineData("169.254.169.254")]
    [InlineData("169.254.170.2")]
    [InlineData("172.16.0.1")]
    [InlineData("172.31.255.255")]
    [InlineData("192.0.0.192")]
    [InlineData("192.0.2.1")]
    [InlineData("192.88.99.1")]
    [InlineData("192.168.0.1")]
    [InlineData("198.18.0.1")]
    [InlineData("198.19.255.255")]
    [InlineData("198.51.100.1")]
    [InlineData("203.0.113.1")]
    [InlineData("224.0.0.1")]
    [InlineData("239.255.255.250")]
    [InlineData("240.0.0.1")]
    [InlineData("255.255.255.255")]
    [InlineData("::")]
    [InlineData("::1")]
    [InlineData("::10.0.0.1")]
    [InlineData("::8.8.8.8")]
    [InlineData("::ffff:127.0.0.1")]
    [InlineData("::ffff:10.0.0.1")]
    [InlineData("::ffff:169.254.169.254")]
    [InlineData("64:ff9b::10.0.0.1")]
    [InlineData("64:ff9b::169.254.169.254")]
    [InlineData("64:ff9b:1::8.8.8.8")]
    [InlineData("100::1")]
    [InlineData("2001::1")]
    [InlineData("2001:0:53aa:64c:0:0:f5ff:fffe")]
    [InlineData("2001:db8::1")]
    [InlineData("2002:7f00:1::1")]
    [InlineData("3fff::1")]
    [InlineData("5f00::1")]
    [InlineData("fc00::1")]
    [InlineData("fd00:ec2::254")]
    [InlineData("fe80::1")]
    [InlineData("fec0::1")]
    [InlineData("ff02::1")]
    public void MayBeDialled_NotPublic_Refused(string address)
    {
        var parsed = IPAddress.Parse(address);

        Assert.False(PublicAddress.MayBeDialled(parsed, allowLoopback: false));
        Assert.Equal(
            IPAddress.IsLoopback(parsed.IsIPv4MappedToIPv6 ? parsed.MapToIPv4() : parsed),
            PublicAddress.MayBeDialled(parsed, allowLoopback: true));
    }

    [Theory]
    [InlineData("1.1.1.1")]
    [InlineData("9.255.255.255")]
    [InlineData("11.0.0.0")]
    [InlineData("100.63.255.255")]
    [InlineData("100.128.0.0")]
    [InlineData("126.255.255.255")]
    [InlineData("128.0.0.0")]
    [InlineData("172.15.255.255")]
    [InlineData("172.32.0.0")]
    [InlineData("192.167.255.255")]
    [InlineData("192.169.0.0")]
    [InlineData("223.255.255.255")]
    [InlineData("::ffff:8.8.8.8")]
    [InlineData("64:ff9b::8.8.8.8")]
    [InlineData("2001:4860:4860::8888")]
    [InlineData("2a00:1450:4001::1")]
    public void MayBeDialled_Public_Allowed(string address) => Assert.True(PublicAddress.MayBeDialled(IPAddress.Parse(address), allowLoopback: false));
}
