using Pnh.Api.Tests.Layering.Drawn.Below;

// Rooms in one file, each with an arrow of its own kind: what the reader of rooms has to see.
namespace Pnh.Api.Tests.Layering.Drawn.Below
{
    internal interface IUsed;

    [AttributeUsage(AttributeTargets.All)]
    internal sealed class UsedAttribute : Attribute;

    internal class Used : IUsed
    {
        internal Used? Next { get; set; }
    }

    internal sealed class UsedException : Exception;

    internal static class UsedExtensions
    {
        internal static int Twice(this int number) => number * 2;
    }
}

namespace Pnh.Api.Tests.Layering.Drawn.ByBase
{
    internal sealed class User : Below.Used;
}

namespace Pnh.Api.Tests.Layering.Drawn.ByField
{
    internal sealed class User
    {
        internal List<Below.Used[]>? Field { get; set; }
    }
}

namespace Pnh.Api.Tests.Layering.Drawn.ByAttribute
{
    internal sealed class User
    {
        [Below.Used]
        internal int Field { get; set; }
    }
}

namespace Pnh.Api.Tests.Layering.Drawn.ByConstraint
{
    internal sealed class User
    {
        internal static void Call<T>()
            where T : Below.IUsed
        {
        }
    }
}

namespace Pnh.Api.Tests.Layering.Drawn.ByExtension
{
    internal sealed class User
    {
        internal static int Call() => 1.Twice();
    }
}

namespace Pnh.Api.Tests.Layering.Drawn.ByCatch
{
    internal sealed class User
    {
        internal static void Call(Action action)
        {
            try
            {
                action();
            }
            catch (Below.UsedException)
            {
            }
        }
    }
}

namespace Pnh.Api.Tests.Layering.Drawn.ByTypeArgument
{
    internal sealed class User
    {
        internal static object Call() => Activator.CreateInstance<Below.Used>();
    }
}

namespace Pnh.Api.Tests.Layering.Drawn.ByLambda
{
    internal sealed class User
    {
        internal static Func<object> Call() => static () => typeof(Below.IUsed);
    }
}

namespace Pnh.Api.Tests.Layering.Drawn.Circle.One
{
    internal sealed class User
    {
        internal Three.User? Next { get; set; }
    }
}

namespace Pnh.Api.Tests.Layering.Drawn.Circle.Two
{
    internal sealed class User
    {
        internal One.User? Next { get; set; }
    }
}

namespace Pnh.Api.Tests.Layering.Drawn.Circle.Three
{
    internal sealed class User
    {
        internal Two.User? Next { get; set; }
    }
}
