namespace Pnh.Api.Tests.Layering;

/// <summary>The reader of rooms sees what it is there to see: arrows that were drawn on purpose, in the rooms of Drawn.cs.</summary>
public sealed class AssemblyRoomsTests
{
    private const string Root = "Pnh.Api.Tests.Layering.Drawn";
    private static readonly AssemblyRooms Rooms = AssemblyRooms.Read(Root, [typeof(AssemblyRoomsTests).Assembly.Location]);

    [Theory]
    [InlineData("ByBase")]
    [InlineData("ByField")]
    [InlineData("ByAttribute")]
    [InlineData("ByConstraint")]
    [InlineData("ByExtension")]
    [InlineData("ByCatch")]
    [InlineData("ByTypeArgument")]
    [InlineData("ByLambda")]
    public void Arrows_EachWayOfUse_IsSeen(string room) => Assert.Contains((Root + "." + room, Root + ".Below"), Rooms.Arrows.Keys);

    [Fact]
    public void Circles_ThreeRoomsInARing_AreTheOnlyOne()
    {
        var circle = Assert.Single(Rooms.Circles());
        Assert.Equal([Root + ".Circle.One", Root + ".Circle.Three", Root + ".Circle.Two"], circle);
        Assert.Contains($"{Root}.Circle.One -> {Root}.Circle.Three: User", Rooms.Describe(circle), StringComparison.Ordinal);
    }
}
