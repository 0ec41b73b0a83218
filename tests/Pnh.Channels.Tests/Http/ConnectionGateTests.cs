using Pnh.Channels.Http;

namespace Pnh.Channels.Tests.Http;

public sealed class ConnectionGateTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(10);

    [Fact]
    public async Task EnterAsync_Cold_OneAtATimeUntilAuthenticated()
    {
        var gate = new ConnectionGate(3, startsCold: true);
        gate.Opened(new object());

        var first = Enter(gate);
        var second = Enter(gate);
        Assert.True(first.IsCompletedSuccessfully);
        Assert.False(second.IsCompleted);

        gate.Exit(authenticated: false);
        await second.WaitAsync(Limit);
        var others = Enumerable.Range(0, 4).Select(_ => Enter(gate)).ToArray();
        Assert.DoesNotContain(others, task => task.IsCompleted);

        gate.Exit(authenticated: true);
        Assert.Equal(3, gate.InFlight);
        Assert.Equal(1, gate.Connections(ConnectionState.Warm));
    }

    [Fact]
    public void Closed_CurrentConnection_ColdAgain()
    {
        var gate = new ConnectionGate(3, startsCold: true);
        var connection = new object();
        gate.Opened(connection);
        _ = Enter(gate);
        gate.Exit(authenticated: true);
        Assert.Equal((0, 1), (gate.Connections(ConnectionState.Cold), gate.Connections(ConnectionState.Warm)));

        gate.Closed(connection);

        Assert.True(Enter(gate).IsCompletedSuccessfully);
        Assert.False(Enter(gate).IsCompleted);
        Assert.Equal((0, 0), (gate.Connections(ConnectionState.Cold), gate.Connections(ConnectionState.Warm)));
    }

    [Fact]
    public void Closed_ReplacedConnection_StaysWarm()
    {
        var gate = new ConnectionGate(2, startsCold: true);
        object old = new(), current = new();
        gate.Opened(old);
        gate.Opened(current);
        _ = Enter(gate);
        gate.Exit(authenticated: true);

        gate.Closed(old);

        Assert.True(Enter(gate).IsCompletedSuccessfully);
        Assert.True(Enter(gate).IsCompletedSuccessfully);
    }

    [Fact]
    public async Task EnterAsync_WaitTooLong_TimesOutAndLeavesNoPlaceTaken()
    {
        var gate = new ConnectionGate(1, startsCold: false);
        await Enter(gate);

        await Assert.ThrowsAsync<TimeoutException>(
            () => gate.EnterAsync(TimeSpan.FromMilliseconds(20), TimeProvider.System, CancellationToken.None).AsTask());
        gate.Exit(authenticated: true);

        Assert.Equal(0, gate.InFlight);
        Assert.True(Enter(gate).IsCompletedSuccessfully);
    }

    private static Task Enter(ConnectionGate gate) => gate.EnterAsync(Limit, TimeProvider.System, CancellationToken.None).AsTask();
}
