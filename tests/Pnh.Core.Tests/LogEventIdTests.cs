using System.Reflection;
using Microsoft.Extensions.Logging;
using Pnh.Core.Hubs;

namespace Pnh.Core.Tests;

public sealed class LogEventIdTests
{
    [Fact]
    public void LoggerMessages_OfOneCategory_HaveUniqueIdsAndNames()
    {
        const BindingFlags any = BindingFlags.Static | BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;
        var byCategory = typeof(Hub).Assembly.GetTypes()
            .SelectMany(t => t.GetMethods(any))
            .Select(m => (Category: m.DeclaringType!.DeclaringType ?? m.DeclaringType, Message: m.GetCustomAttribute<LoggerMessageAttribute>()))
            .Where(m => m.Message is not null)
            .GroupBy(m => m.Category!.FullName!)
            .ToList();
        Assert.Contains(byCategory, c => c.Key == typeof(Hub).FullName);
        Assert.All(byCategory, category =>
        {
            Assert.Equal(category.Count(), category.Select(m => m.Message!.EventId).Distinct().Count());
            Assert.Equal(category.Count(), category.Select(m => m.Message!.EventName).Distinct().Count());
        });
    }
}
