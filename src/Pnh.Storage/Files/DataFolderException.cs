namespace Pnh.Storage.Files;

/// <summary>The data folder, or a file in it, cannot be used; the message is one line that says what to do. Thrown only while opening.</summary>
public sealed class DataFolderException : Exception
{
    /// <summary>With a reason for people.</summary>
    public DataFolderException(string message)
        : base(message)
    {
    }

    /// <summary>With a reason for people and its cause.</summary>
    public DataFolderException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
