using Pnh.Core.Storage;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>A registry that is not the journal's: refused while it would cost events, with one line that says what to do.</summary>
public sealed class FolderPairingTests
{
    private const string Accept = "--Pnh:Journal:OnForeignRegistry=accept";

    [Fact]
    public async Task Start_RegistryIsMissing_IsRefusedUntilItIsBack()
    {
        var data = Directory.CreateTempSubdirectory("pnh-").FullName;
        try
        {
            var id = await LeaveOpenEventAsync(data);
            File.Move(Path.Combine(data, "registry.db"), Path.Combine(data, "kept"));
            await AssertRefusedAsync(data, "is new");
            await AssertRefusedAsync(data, "is new"); // also now that the first start made an empty one

            File.Move(Path.Combine(data, "kept"), Path.Combine(data, "registry.db"), overwrite: true);
            await using var hub = await TestHub.StartAsync(data);
            Assert.Equal([id], await MailboxAsync(hub));
        }
        finally
        {
            Directory.Delete(data, recursive: true);
        }
    }

    [Fact]
    public async Task Start_RegistryOfAnotherFolder_IsRefusedUntilItIsAccepted()
    {
        var (data, other) = (Directory.CreateTempSubdirectory("pnh-").FullName, Directory.CreateTempSubdirectory("pnh-").FullName);
        try
        {
            var id = await LeaveOpenEventAsync(data);
            await LeaveOpenEventAsync(other);
            File.Copy(Path.Combine(other, "registry.db"), Path.Combine(data, "registry.db"), overwrite: true);
            await AssertRefusedAsync(data, "of two data folders");

            await using (await TestHub.StartAsync(data, configuration: Accept))
            {
            }

            await using var next = await TestHub.StartAsync(data); // they belong together now
            Assert.Equal([id], await MailboxAsync(next));
        }
        finally
        {
            Directory.Delete(data, recursive: true);
            Directory.Delete(other, recursive: true);
        }
    }

    [Fact]
    public async Task Start_RegistryIsMissingAndAccepted_TheEventWaitsForItsUser()
    {
        var data = Directory.CreateTempSubdirectory("pnh-").FullName;
        try
        {
            var id = await LeaveOpenEventAsync(data);
            File.Delete(Path.Combine(data, "registry.db"));
            await using var hub = await TestHub.StartAsync(data, configuration: Accept);
            Assert.DoesNotContain("device-gone", (await hub.SendAsync("GET", $"/v1/events/{id}")).Body, StringComparison.Ordinal);
            Assert.Contains("\"planned\"", (await hub.SendAsync("GET", $"/v1/events/{id}")).Body, StringComparison.Ordinal);
        }
        finally
        {
            Directory.Delete(data, recursive: true);
        }
    }

    [Fact]
    public async Task Start_RegistryIsMissingAndNothingIsOpen_Starts()
    {
        var data = Directory.CreateTempSubdirectory("pnh-").FullName;
        try
        {
            await using (await TestHub.StartAsync(data))
            {
            }

            File.Delete(Path.Combine(data, "registry.db"));
            await using var hub = await TestHub.StartAsync(data);
            Assert.Equal(200, (await hub.SendAsync("GET", "/readyz")).Status);
        }
        finally
        {
            Directory.Delete(data, recursive: true);
        }
    }

    // A message that waits for a tablet.
    private static async Task<string> LeaveOpenEventAsync(string data)
    {
        await using var hub = await TestHub.StartAsync(data);
        Assert.InRange((await hub.SendAsync("PUT", "/v1/users/lin/devices/tablet", """{"platform":"web"}""")).Status, 200, 201);
        var answer = await hub.SendAsync("POST", "/v1/events", """{"id":"waits","to":{"user":"lin"}}""");
        Assert.Equal(202, answer.Status);
        return "waits";
    }

    private static async Task AssertRefusedAsync(string data, string why)
    {
        var fault = await Assert.ThrowsAsync<DataFolderException>(() => TestHub.StartAsync(data));
        Assert.StartsWith(Path.Combine(data, "registry.db"), fault.Message, StringComparison.Ordinal);
        Assert.Contains(why, fault.Message, StringComparison.Ordinal);
        Assert.Contains("Pnh:Journal:OnForeignRegistry=accept", fault.Message, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', fault.Message);
    }

    private static async Task<List<string>> MailboxAsync(TestHub hub)
    {
        using var socket = await hub.ConnectAsync("lin", "tablet");
        return [(await socket.ReceiveAsync()).GetProperty("id").GetString()!];
    }
}
