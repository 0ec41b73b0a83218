using System.Text;
using Pnh.LoadTest.Clients;
using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Options;
using Pnh.LoadTest.Wire;

namespace Pnh.Api.Tests.Bench;

public sealed class BenchContentsTests : IDisposable
{
    private const int User = 3;
    private readonly BenchOptions _options = new("one", ["--key", "k", "--secret", "s", "--class", "message", "--run", "r", "--size", "80"], new Dictionary<string, string>());
    private readonly Loop _loop = new();
    private readonly Arrivals _arrivals = new(Fault.None, lateAfter: 1e9);
    private readonly PnhPeer _peer;
    private readonly ClientSession _session;

    public BenchContentsTests()
    {
        _peer = new PnhPeer(_options);
        _session = new ClientSession(new Fleet(_options, _loop, _arrivals), _peer, User, [new StreamCheck(User, 0)]);
    }

    public void Dispose() => _loop.Dispose();

    [Fact]
    public void Read_AsSent_IsNoMismatch()
    {
        Read(Frame(1));
        Read(Frame(2));
        Read(Frame(3).Replace("\"seq\":3,", "", StringComparison.Ordinal).Replace("r-0000003", "given by the hub", StringComparison.Ordinal)); // transient

        Assert.Equal((0, 3), (_arrivals.Mismatched, _arrivals.Count));
    }

    [Theory]
    [InlineData("r-0000003-000000001", "r-0000003-000000002")]
    [InlineData("r-0000003-000000001", "r-0000003-0000000011")]
    [InlineData("\"id\":", "\"key\":")]
    [InlineData("xxx\"", "xxy\"")]
    [InlineData("xxx\"", "xx\"")]
    [InlineData("xxx\"", "xxxx\"")]
    public void Read_OtherIdOrFilling_IsAMismatch(string sent, string received)
    {
        Read(Frame(1).Replace(sent, received, StringComparison.Ordinal));

        Assert.Equal(1, _arrivals.Mismatched);
    }

    [Theory]
    [InlineData(2)]
    [InlineData(4)]
    public void Read_SequenceIsNotTheNext_IsAMismatch(int sequence)
    {
        Read(Frame(1));
        Read(Frame(2));
        Read(Frame(sequence));

        Assert.Equal(1, _arrivals.Mismatched);
    }

    [Fact]
    public void Read_RepeatedAfterAResume_IsNone()
    {
        Welcome(isResumed: false);
        Read(Frame(1));
        Read(Frame(2));
        Welcome(isResumed: true);
        Read(Frame(2));
        Read(Frame(3));

        Assert.Equal((0, 1), (_arrivals.Mismatched, _arrivals.Duplicates));
    }

    [Fact]
    public void Read_NewSession_CountsFromOne()
    {
        Read(Frame(1));
        Welcome(isResumed: false);
        Read(Frame(2).Replace("\"seq\":2,", "\"seq\":1,", StringComparison.Ordinal));

        Assert.Equal(0, _arrivals.Mismatched);
    }

    [Theory]
    [InlineData("""{"id":"r-0000003-000000007","durable":true}""", true)]
    [InlineData("""{"id":"r-0000003-000000008","durable":true}""", false)]
    [InlineData("""{"id":"r-0000004-000000007","durable":true}""", false)]
    [InlineData("""{"id":"r-0000003-0000000071","durable":true}""", false)]
    [InlineData("{}", false)]
    [InlineData("", false)]
    public void Confirms_Answer_OnlyWithTheIdThatWasSent(string answer, bool expected)
    {
        var contents = new Contents(_options);

        Assert.Equal(expected, contents.Confirms(Encoding.ASCII.GetBytes(answer), new Posted(User, 7, 0, HasId: true)));
        Assert.True(contents.Confirms(Encoding.ASCII.GetBytes(answer), new Posted(User, 7, 0)));
    }

    [Fact]
    public void HasId_Template_OnlyWhereTheEventIsGivenOne() =>
        Assert.Equal((true, false), (_peer.Post(toTopic: false, "message").HasId, _peer.Post(toTopic: false, "transient").HasId));

    private static string Frame(int sequence)
    {
        var template = new Template("\"id\":\"r-{stream}-{seq}\",\"class\":\"message\",\"data\":" + MessagePayload.Text(80) + "}");
        var bytes = new byte[template.Length];
        template.Write(bytes, User, sequence, 0);
        return $$"""{"type":"event","seq":{{sequence}},""" + Encoding.ASCII.GetString(bytes);
    }

    private void Read(string frame) => _peer.Read(_session, Encoding.ASCII.GetBytes(frame));

    private void Welcome(bool isResumed) => Read($$"""{"type":"welcome","session":"s","seq":0,"resumed":{{(isResumed ? "true" : "false")}}}""");
}
