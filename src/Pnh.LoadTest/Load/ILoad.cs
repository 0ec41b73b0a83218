namespace Pnh.LoadTest.Load;

/// <summary>What a profile does to the server while it is measured.</summary>
internal interface ILoad
{
    void Start();

    /// <summary>Nothing new from here on; what is under way goes on.</summary>
    void Stop();

    /// <summary>Whether nothing is under way any more.</summary>
    bool IsQuiet { get; }
}
