namespace Pnh.TestKit;

/// <summary>An empty folder that is gone after the test.</summary>
public sealed class TemporaryFolder : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("pnh-test-");

    /// <summary>Absolute path.</summary>
    public string FullPath => _folder.FullName;

    /// <summary>Path of a file or folder in it.</summary>
    public string this[string name] => Path.Combine(FullPath, name);

    public void Dispose() => _folder.Delete(recursive: true);
}
