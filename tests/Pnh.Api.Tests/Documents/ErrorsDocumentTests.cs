using Pnh.Api.Problems;
using Pnh.Api.Tests.Layering;

namespace Pnh.Api.Tests.Documents;

/// <summary><c>docs/errors.md</c> is made of the catalogue: <c>PNH_WRITE_DOCUMENTS=1 dotnet test tests/Pnh.Api.Tests --filter ErrorsDocument</c>.</summary>
public sealed class ErrorsDocumentTests
{
    [Fact]
    public void Errors_Sections_AreThoseOfTheCatalogue() =>
        MadeDocument.AssertEndsWith("errors.md", static page => page.IndexOf("## ", StringComparison.Ordinal), ProblemCatalogue.ToMarkdown());
}
