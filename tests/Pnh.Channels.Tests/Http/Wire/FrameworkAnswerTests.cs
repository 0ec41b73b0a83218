using Pnh.Channels.Net.Http;

namespace Pnh.Channels.Tests.Http.Wire;

public sealed class FrameworkAnswerTests
{
    private static readonly CancellationToken Cancelled = new(canceled: true);

    [Fact]
    public void FaultOf_NetworkFaultWhileCancelled_StillAFault()
    {
        Assert.Equal(SendFault.Ambiguous, FrameworkAnswer.FaultOf(new HttpRequestException("gone"), Cancelled)?.Fault);
        Assert.Equal(SendFault.Ambiguous, FrameworkAnswer.FaultOf(new IOException("gone"), Cancelled)?.Fault);
        Assert.Equal(SendFault.NotSent, FrameworkAnswer.FaultOf(new HttpRequestException(HttpRequestError.ConnectionError), Cancelled)?.Fault);
    }

    [Fact]
    public void FaultOf_CancellationOrBug_Thrown()
    {
        Assert.Null(FrameworkAnswer.FaultOf(new OperationCanceledException(Cancelled), Cancelled));
        Assert.Null(FrameworkAnswer.FaultOf(new InvalidOperationException("bug"), CancellationToken.None));
    }
}
