using System.Text;
using Pnh.Core.Users;

namespace Pnh.Core.Tests.Devices;

public sealed class TopicMembersTests
{
    [Fact]
    public void IsAfter_AnyTwo_IsTheOrderOfTheirUtf8()
    {
        string[] names = ["a", "ab", "b", "aé", "é", "\uFFFD", "\uE000", "\U0001F600", "\U0001F601", "a\U0001F600", "a\uFFFD", "\U0001F600a", "\uD7FF", "Z", "user-10", "user-9"];
        foreach (var one in names)
        {
            foreach (var other in names)
            {
                var expected = Encoding.UTF8.GetBytes(one).AsSpan().SequenceCompareTo(Encoding.UTF8.GetBytes(other)) > 0;
                Assert.True(expected == TopicMembers.IsAfter(one, other), $"{one} after {other}");
            }
        }
    }
}
