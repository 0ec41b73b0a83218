namespace Pnh.Sandbox.Contract;

/// <summary>
/// The sandbox cannot start: a port in use, a damaged file, an impossible option. <see cref="Exception.Message"/> is one line
/// that names the thing and says what to do; programs print it and nothing else.
/// </summary>
public sealed class SandboxException : Exception
{
    /// <summary>Creates the error from its one line.</summary>
    public SandboxException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the error from its one line and the failure below it.</summary>
    public SandboxException(string message, Exception inner)
        : base(message, inner)
    {
    }
}
