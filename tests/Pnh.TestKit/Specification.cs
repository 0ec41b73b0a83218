using System.Reflection;
using Xunit;

namespace Pnh.TestKit;

/// <summary>
/// The facts of a specification as rows of one theory, so that an engine that is not on this machine can be skipped with its reason: facts that a class inherits cannot be.
/// </summary>
public static class Specification
{
    /// <summary>Each fact of the class, and each row of its theories: the method's name and its arguments.</summary>
    public static IEnumerable<object[]> RowsOf(Type specification)
    {
        ArgumentNullException.ThrowIfNull(specification);
        foreach (var method in specification.GetMethods(BindingFlags.Public | BindingFlags.Instance).Where(static method => method.IsDefined(typeof(FactAttribute))))
        {
            var rows = method.GetCustomAttributes<InlineDataAttribute>().SelectMany(row => row.GetData(method)).ToList();
            foreach (var row in rows.Count == 0 ? [[]] : rows)
            {
                yield return [method.Name, row];
            }
        }
    }

    /// <summary>Runs one of them on a new instance, begun and ended as the runner does.</summary>
    public static async Task RunAsync(object instance, string fact, object?[] arguments)
    {
        ArgumentNullException.ThrowIfNull(instance);
        ArgumentNullException.ThrowIfNull(arguments);
        var method = instance.GetType().GetMethod(fact) ?? throw new ArgumentException("No such fact.", nameof(fact));
        var given = method.GetParameters().Select((parameter, i) => i < arguments.Length ? arguments[i] : parameter.DefaultValue).ToArray();
        var life = instance as IAsyncLifetime;
        await (life?.InitializeAsync() ?? Task.CompletedTask);
        try
        {
            await (Task)method.Invoke(instance, given)!;
        }
        finally
        {
            await (life?.DisposeAsync() ?? Task.CompletedTask);
        }
    }
}
