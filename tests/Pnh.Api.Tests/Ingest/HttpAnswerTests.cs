using Pnh.Api.DirectHttp;
using Pnh.Api.Problems;
using Pnh.Core.Events;

namespace Pnh.Api.Tests.Ingest;

public sealed class HttpAnswerTests
{
    [Fact]
    public void Of_LargerThanMost_KeepsNoBufferOfThatSize()
    {
        var errors = Enumerable.Range(0, 2_000).Select(static i => new FieldError($"/member-{i}", "unknown-member", "There is no such member.")).ToArray();

        var length = HttpAnswer.Of(new Problem(ProblemCatalogue.InvalidBody, errors: errors), "Date: x\r\n"u8, isLast: false).Length;
        Assert.InRange(length, 100_000, int.MaxValue);
        Assert.InRange(HttpAnswer.Kept, 0, 64 * 1024);

        var small = HttpAnswer.Of(new Problem(ProblemCatalogue.InvalidBody), "Date: x\r\n"u8, isLast: false);
        Assert.True(small.StartsWith("HTTP/1.1 400 Bad Request\r\nDate: x\r\n"u8));
        Assert.InRange(HttpAnswer.Kept, 1, 64 * 1024);
    }
}
