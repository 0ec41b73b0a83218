using System.Globalization;
using System.Text;

namespace Pnh.LoadTest.Overload;

/// <summary>
/// A POST of one event as bytes, made once per class; per send only digits are put into gaps: event number (its id), user, and the time at which it was due, which the frame
/// brings back. Immutable.
/// </summary>
internal sealed class EventRequest
{
    /// <summary>What stands before the time in a frame.</summary>
    public static ReadOnlySpan<byte> TimeMember => "\"due\":\""u8;

    /// <summary>Digits of the time.</summary>
    public const int TimeDigits = 19;

    /// <summary>Digits of the number that ends the id.</summary>
    public const int NumberDigits = 10;

    private const int UserDigits = 6;

    private readonly byte[] _template;
    private readonly int _number;
    private readonly int _user;
    private readonly int _time;

    public EventRequest(LoadOptions options, string run, string @class)
    {
        var id = $"\"id\":\"{run}-{@class}-";
        var user = "\"user\":\"load-";
        var body = "{" + id + new string('0', NumberDigits) + "\",\"to\":{" + user + new string('0', UserDigits)
            + $"\"}},\"class\":\"{@class}\",\"ttl\":600,\"data\":{{\"class\":\"{@class}\",\"due\":\"" + new string('0', TimeDigits)
            + $"\",\"text\":\"{new string('x', options.Padding)}\"}}}}";
        var text = string.Create(
            CultureInfo.InvariantCulture,
            $"POST /v1/events HTTP/1.1\r\nHost: {options.Host}:{options.Port}\r\nAuthorization: Bearer {options.Key}\r\nContent-Type: application/json\r\nContent-Length: {body.Length}\r\n\r\n{body}");
        _template = Encoding.ASCII.GetBytes(text);
        _number = text.IndexOf(id, StringComparison.Ordinal) + id.Length;
        _user = text.IndexOf(user, StringComparison.Ordinal) + user.Length;
        _time = text.IndexOf("\"due\":\"", StringComparison.Ordinal) + TimeMember.Length;
    }

    /// <summary>The name of a user of the load.</summary>
    public static string UserName(int user) => string.Create(CultureInfo.InvariantCulture, $"load-{user:D6}");

    public int Length => _template.Length;

    public void Write(Span<byte> target, long number, int user, long due)
    {
        _template.CopyTo(target);
        Digits(target.Slice(_number, NumberDigits), number);
        Digits(target.Slice(_user, UserDigits), user);
        Digits(target.Slice(_time, TimeDigits), due);
    }

    private static void Digits(Span<byte> target, long value)
    {
        for (var i = target.Length - 1; i >= 0; i--)
        {
            target[i] = (byte)('0' + (value % 10));
            value /= 10;
        }
    }
}
