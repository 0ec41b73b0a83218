using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Pnh.Api.Problems;
using Pnh.Api.Tests.EndToEnd;
using Pnh.TestKit;

namespace Pnh.Api.Tests.Problems;

public sealed class ExceptionProblemsTests
{
    [Fact]
    public async Task Bug_MetByEachRequest_IsOneLineASecond()
    {
        using var log = new RecordedLog();
        using var loggers = LoggerFactory.Create(logging => logging.AddProvider(log));
        var time = new FakeTimeProvider();
        var problems = new ExceptionProblems(static _ => throw new InvalidOperationException("A bug."), loggers.CreateLogger<ExceptionProblems>(), time);
        for (var i = 0; i < 100; i++)
        {
            var context = new DefaultHttpContext();
            await problems.InvokeAsync(context);
            Assert.Equal(500, context.Response.StatusCode);
        }

        Assert.Single(log.Lines);
        time.Advance(TimeSpan.FromSeconds(1));
        await problems.InvokeAsync(new DefaultHttpContext());
        Assert.Equal(2, log.Lines.Count);
    }
}
