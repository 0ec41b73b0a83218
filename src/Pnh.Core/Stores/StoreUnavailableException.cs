namespace Pnh.Core.Stores;

/// <summary>Stable storage refused to read or write; the message says what to do. Nothing was half-written.</summary>
public sealed class StoreUnavailableException : Exception
{
    /// <summary>True when what was asked for is damaged: asking again brings it no more.</summary>
    public bool IsDamage { get; init; }

    /// <summary>With a reason for people.</summary>
    public StoreUnavailableException(string message)
        : base(message)
    {
    }

    /// <summary>With a reason for people and its cause.</summary>
    public StoreUnavailableException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
