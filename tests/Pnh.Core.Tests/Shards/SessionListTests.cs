using Pnh.Core.Sessions;

namespace Pnh.Core.Tests.Shards;

/// <summary>A user's sessions beside a list, over random steps.</summary>
public sealed class SessionListTests
{
    [Fact]
    public void Steps_AtRandom_DoWhatAListDoes()
    {
        var random = new Random(7);
        for (var round = 0; round < 200; round++)
        {
            var (list, model) = (new SessionList(), new List<LiveSession>());
            for (var step = 0; step < 30; step++)
            {
                var session = new LiveSession(new("demo", "ada", $"tab-{step}", $"s-{step}"), SessionState.Active, null!, default);
                switch (random.Next(3))
                {
                    case 0:
                        list.Add(session);
                        model.Add(session);
                        break;
                    case 1 when model.Count > 0:
                        var gone = random.Next(model.Count);
                        list.RemoveAt(gone);
                        model.RemoveAt(gone);
                        break;
                    case 2 when model.Count > 0:
                        var changed = random.Next(model.Count);
                        list[changed] = session;
                        model[changed] = session;
                        break;
                }

                Assert.Equal(model.Count, list.Count);
                Assert.Equal(model, list);
                Assert.Equal(model, Enumerable.Range(0, list.Count).Select(i => list[i]));
            }
        }
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(3)]
    public void Index_OutOfRange_Throws(int count)
    {
        var list = new SessionList();
        for (var i = 0; i < count; i++)
        {
            list.Add(new LiveSession(new("demo", "ada", $"tab-{i}", $"s-{i}"), SessionState.Active, null!, default));
        }

        Assert.ThrowsAny<ArgumentOutOfRangeException>(() => list[count]);
        Assert.ThrowsAny<ArgumentOutOfRangeException>(() => list.RemoveAt(count));
        Assert.Equal(count, list.Count);
    }
}
