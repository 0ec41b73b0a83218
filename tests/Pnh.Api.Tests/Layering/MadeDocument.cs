namespace Pnh.Api.Tests.Layering;

/// <summary>A page of <c>docs/</c> whose end is made of the code.</summary>
internal static class MadeDocument
{
    /// <summary>The page's end is this; with <c>PNH_WRITE_DOCUMENTS=1</c> it is written first.</summary>
    /// <param name="name">File of the page.</param>
    /// <param name="from">Where the made part begins in the page.</param>
    /// <param name="made">The part as it should be.</param>
    public static void AssertEndsWith(string name, Func<string, int> from, string made)
    {
        var file = Path.Combine(SourceTree.Root, "docs", name);
        var page = File.ReadAllText(file);
        var whole = page[..from(page)] + made;
        if (Environment.GetEnvironmentVariable("PNH_WRITE_DOCUMENTS") == "1")
        {
            File.WriteAllText(file, whole);
        }

        Assert.Equal(whole, File.ReadAllText(file));
    }
}
