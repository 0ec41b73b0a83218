using System.Text;

namespace Pnh.Api.Documents;

/// <summary>A file that the build put into the program.</summary>
internal static class EmbeddedFile
{
    /// <summary>Its bytes. Throws when the build left it out.</summary>
    public static byte[] Read(string name)
    {
        using var stream = typeof(EmbeddedFile).Assembly.GetManifestResourceStream(name) ?? throw new InvalidOperationException($"{name} is not embedded in the program.");
        var bytes = new byte[stream.Length];
        stream.ReadExactly(bytes);
        return bytes;
    }

    /// <summary>The same as a text.</summary>
    public static string ReadText(string name) => Encoding.UTF8.GetString(Read(name));
}
