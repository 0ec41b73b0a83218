using System.IO.Pipelines;
using System.Text;
using Microsoft.AspNetCore.Http;
using Pnh.Api.Bodies;
using Pnh.TestKit;

namespace Pnh.Api.Tests.Problems;

/// <summary>Bodies that stall, are all blanks, or break their framing.</summary>
public sealed class WatchedBodyTests : IDisposable
{
    private readonly FakeTimeProvider _time = new();
    private readonly Pipe _pipe = new(new PipeOptions(pauseWriterThreshold: 0));
    private readonly WatchedBody _body;

    public WatchedBodyTests() => _body = new WatchedBody(_pipe.Reader, _time);

    public void Dispose() => _body.Dispose();

    [Fact]
    public async Task ReadAsync_FastForLongThenNothing_IsGivenUpAfterAWindow()
    {
        await SendAsync(new string('x', 1_000_000));
        await TakeAsync();
        var reading = _body.ReadAsync().AsTask();
        _time.Advance(WatchedBody.Window - TimeSpan.FromSeconds(1));
        Assert.False(reading.IsCompleted);
        _time.Advance(TimeSpan.FromSeconds(1));
        _time.Advance(TimeSpan.FromSeconds(1));
        // Two windows: what came fast counts for the first.
        _time.Advance(WatchedBody.Window);
        Assert.Equal(408, (await Assert.ThrowsAsync<BadHttpRequestException>(() => reading.WaitAsync(TimeSpan.FromSeconds(30)))).StatusCode);
    }

    [Fact]
    public async Task ReadAsync_AByteNowAndThen_IsGivenUp()
    {
        var refusal = await Assert.ThrowsAsync<BadHttpRequestException>(async () =>
        {
            for (var second = 0; second < 30; second++)
            {
                var reading = _body.ReadAsync().AsTask();
                _time.Advance(TimeSpan.FromSeconds(1));
                await SendAsync("x");
                _body.AdvanceTo((await reading).Buffer.End);
            }
        });
        Assert.Equal(408, refusal.StatusCode);
    }

    [Fact]
    public async Task ReadAsync_NobodyReadsForLong_IsNoStall()
    {
        await SendAsync("x");
        await TakeAsync();
        _time.Advance(TimeSpan.FromHours(1));
        var reading = _body.ReadAsync().AsTask();
        _time.Advance(TimeSpan.FromSeconds(2));
        await SendAsync("y");
        Assert.Equal(1, (await reading).Buffer.Length);
    }

    [Fact]
    public async Task ReadAsync_SlowButSteady_GoesOn()
    {
        for (var second = 0; second < 60; second++)
        {
            var reading = _body.ReadAsync().AsTask();
            _time.Advance(TimeSpan.FromSeconds(1));
            await SendAsync(new string('x', 300));
            _body.AdvanceTo((await reading).Buffer.End);
        }
    }

    [Fact]
    public async Task ReadAsync_BlanksWithoutEnd_AreRefused()
    {
        var refusal = await Assert.ThrowsAsync<BadHttpRequestException>(async () =>
        {
            for (var i = 0; i < 100; i++)
            {
                await SendAsync(new string(' ', 1_000) + "\r\n");
                await TakeAsync();
            }
        });
        Assert.Equal(413, refusal.StatusCode);
    }

    [Fact]
    public async Task ReadAsync_BlanksBetweenValues_AreTaken()
    {
        for (var i = 0; i < 100; i++)
        {
            await SendAsync(new string(' ', 10_000) + "1\n");
            await TakeAsync();
        }
    }

    [Fact]
    public async Task ReadAsync_TheServersFault_IsABadRequest()
    {
        await _pipe.Writer.CompleteAsync(new IOException("Bad chunk size data."));
        Assert.Equal(400, (await Assert.ThrowsAsync<BadHttpRequestException>(async () => await _body.ReadAsync())).StatusCode);
    }

    private async Task SendAsync(string text) => await _pipe.Writer.WriteAsync(Encoding.ASCII.GetBytes(text));

    private async Task TakeAsync() => _body.AdvanceTo((await _body.ReadAsync()).Buffer.End);
}
