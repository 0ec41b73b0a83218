using System.Security.Cryptography;
using System.Text;
using Pnh.Core.Users;

namespace Pnh.Storage.Postgres.Registry;

/// <summary>What makes two addresses one: a hash of channel, member and value up to its first blank. Of FCM also the installation that a token belongs to.</summary>
internal readonly struct PostgresAddress
{
    private const int Bytes = 16;
    private const string Fid = "fid";

    public PostgresAddress(PushAddress address)
    {
        var (value, member) = (address.Value, address.Member);
        var end = value.IndexOf(' ', StringComparison.Ordinal);
        Hash = Of($"{address.Channel}\n{member}\n{(end < 0 ? value : value[..(end + 1)])}");
        if (address.Channel == "fcm")
        {
            var colon = value.IndexOf(':', StringComparison.Ordinal);
            IsFid = member == Fid;
            Installation = IsFid ? Of(value) : member == "token" && colon > 0 ? Of(value[..colon]) : null;
        }
    }

    /// <summary>16 bytes.</summary>
    public byte[] Hash { get; }

    /// <summary>16 bytes; null = it belongs to none.</summary>
    public byte[]? Installation { get; }

    /// <summary>The installation itself: it takes away its tokens. A token takes away its installation and no other token.</summary>
    public bool IsFid { get; }

    private static byte[] Of(string text) => SHA256.HashData(Encoding.UTF8.GetBytes(text))[..Bytes];
}
