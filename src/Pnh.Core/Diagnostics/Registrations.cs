namespace Pnh.Core.Diagnostics;

/// <summary>Several exports that end together.</summary>
internal sealed class Registrations(params IDisposable[] parts) : IDisposable
{
    /// <inheritdoc/>
    public void Dispose()
    {
        foreach (var part in parts)
        {
            part.Dispose();
        }
    }
}
