using Pnh.Api.Problems;
using Pnh.Api.Tests.Layering;

namespace Pnh.Api.Tests.Documents;

/// <summary><c>docs/errors.md</c> is made of the catalogue: <c>PNH_WRITE_DOCUMENTS=1 dotnet test tests/Pnh.Api.Tests --filter ErrorsDocument</c>.</summary>
public sealed class ErrorsDocumentTests
{
    [Fact]
    public void Errors_Sections_AreThoseOfTheCatalogue()
    {
        var file = Path.Combine(SourceTree.Root, "docs", "errors.md");
        var page = File.ReadAllText(file);
        var first = page.IndexOf("## ", StringComparison.Ordinal);
        var made = (first < 0 ? page : page[..first]) + ProblemCatalogue.ToMarkdown();
        if (Environment.GetEnvironmentVariable("PNH_WRITE_DOCUMENTS") == "1")
        {
            File.WriteAllText(file, made);
        }

        Assert.Equal(made, File.ReadAllText(file));
    }
}
