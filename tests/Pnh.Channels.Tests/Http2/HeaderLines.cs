using System.Text;
using Pnh.Channels.Net.Http2;

namespace Pnh.Channels.Tests.Http2;

/// <summary>Collects headers as <c>name: value</c>.</summary>
internal sealed class HeaderLines : IHeaderSink
{
    public List<string> Lines { get; } = [];

    public void Header(ReadOnlySpan<byte> name, ReadOnlySpan<byte> value) =>
        Lines.Add($"{Encoding.Latin1.GetString(name)}: {Encoding.Latin1.GetString(value)}");
}
