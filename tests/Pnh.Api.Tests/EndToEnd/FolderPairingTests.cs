using Microsoft.Data.Sqlite;
using Pnh.Core.Events;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Files;
using Pnh.Storage.Registry;
using Pnh.Storage.Segments;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>A registry that is not the journal's: refused while it would cost events, with one line that says what to do.</summary>
public sealed class FolderPairingTests : IDisposable
{
    private const string Accept = "--Pnh:Journal:OnForeignRegistry=accept";
    private readonly List<string> _folders = [];
    private readonly string _data;

    public FolderPairingTests() => _data = NewFolder();

    public void Dispose() => _folders.ForEach(static folder => Directory.Delete(folder, recursive: true));

    [Fact]
    public async Task Start_RegistryIsMissing_IsRefusedUntilItIsBack()
    {
        var id = await LeaveOpenEventAsync(_data);
        File.Move(Path.Combine(_data, "registry.db"), Path.Combine(_data, "kept"));
        await AssertRefusedAsync(_data, "is new");
        await AssertRefusedAsync(_data, "is new"); // also now that the first start made an empty one

        File.Move(Path.Combine(_data, "kept"), Path.Combine(_data, "registry.db"), overwrite: true);
        await using var hub = await TestHub.StartAsync(_data);
        Assert.Equal([id], await MailboxAsync(hub));
    }

    [Fact]
    public async Task Start_RegistryOfAnotherFolder_IsRefusedUntilItIsAccepted()
    {
        var other = NewFolder();
        var id = await LeaveOpenEventAsync(_data);
        await LeaveOpenEventAsync(other);
        File.Copy(Path.Combine(other, "registry.db"), Path.Combine(_data, "registry.db"), overwrite: true);
        await AssertRefusedAsync(_data, "of two data folders");

        await using (await TestHub.StartAsync(_data, configuration: Accept))
        {
        }

        await using var next = await TestHub.StartAsync(_data); // they belong together now
        Assert.Equal([id], await MailboxAsync(next));
    }

    [Fact]
    public async Task Start_JournalIsMissing_TheLineSaysSoUntilItIsBack()
    {
        var id = await LeaveOpenEventAsync(_data);
        Directory.Move(Path.Combine(_data, "journal"), Path.Combine(_data, "kept"));
        await AssertRefusedAsync(_data, "put the journal folder back that belongs to the registry");

        Directory.Delete(Path.Combine(_data, "journal"), recursive: true);
        Directory.Move(Path.Combine(_data, "kept"), Path.Combine(_data, "journal"));
        await using var hub = await TestHub.StartAsync(_data);
        Assert.Equal([id], await MailboxAsync(hub));
    }

    [Fact]
    public async Task Start_RegistryIsMissingAndAccepted_TheEventWaitsForItsUser()
    {
        var id = await LeaveOpenEventAsync(_data);
        File.Delete(Path.Combine(_data, "registry.db"));
        await using var hub = await TestHub.StartAsync(_data, configuration: Accept);
        Assert.DoesNotContain("device-gone", (await hub.SendAsync("GET", $"/v1/events/{id}")).Body, StringComparison.Ordinal);
        Assert.Contains("\"planned\"", (await hub.SendAsync("GET", $"/v1/events/{id}")).Body, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Start_RegistryIsMissingAndNothingIsOpen_Starts()
    {
        await using (await TestHub.StartAsync(_data))
        {
        }

        File.Delete(Path.Combine(_data, "registry.db"));
        await using var hub = await TestHub.StartAsync(_data);
        Assert.Equal(200, (await hub.SendAsync("GET", "/readyz")).Status);
    }

    [Fact]
    public async Task Start_RegistryIsMissingAndWhatWasOpenIsOver_Starts()
    {
        await LeaveOpenEventAsync(_data, "\"ttl\":1");
        await Task.Delay(1_100);
        File.Delete(Path.Combine(_data, "registry.db"));
        await using var hub = await TestHub.StartAsync(_data);
        Assert.Equal(200, (await hub.SendAsync("GET", "/readyz")).Status);
    }

    [Fact]
    public async Task Start_RegistryOfAVersionWithoutFolderId_IsTakenAndFromThenOnTheJournals()
    {
        await LeaveFolderOfOldAsync(_data);
        await using (var hub = await TestHub.StartAsync(_data))
        {
            Assert.Equal(["waits"], await MailboxAsync(hub));
        }

        File.Move(Path.Combine(_data, "registry.db"), Path.Combine(_data, "kept"));
        await AssertRefusedAsync(_data, "is new");

        // The one of before the upgrade is not the one that the journal has met since.
        File.Move(Path.Combine(_data, "kept"), Path.Combine(_data, "registry.db"), overwrite: true);
        Downgrade(_data);
        await AssertRefusedAsync(_data, "is not the journal's");
    }

    [Fact]
    public async Task Start_JournalOfAVersionWithoutFolderIdAndNoRegistry_IsRefused()
    {
        await LeaveFolderOfOldAsync(_data);
        File.Delete(Path.Combine(_data, "registry.db"));
        await AssertRefusedAsync(_data, "is new");
    }

    // Written by both stores as they were before either knew of a folder's id: nobody has paired them.
    private static async Task LeaveFolderOfOldAsync(string data)
    {
        var now = TimeProvider.System.GetUtcNow();
        await using (var registry = SqliteDeviceStore.Open(data, TimeProvider.System))
        {
            await registry.PutDeviceAsync(new UserKey("demo", "lin"), new Device { Id = "tablet", Platform = Platform.Web, RegisteredAt = now }, CancellationToken.None);
        }

        Downgrade(data);
        await using var journal = SegmentJournal.Open(data, TimeProvider.System, new JournalOptions());
        var waits = new EventReader(ClassPolicies.Default, ["websocket"]).Read(
            """{"id":"waits","to":{"user":"lin"}}"""u8.ToArray(), new EventOrigin("demo", now, TimeProvider.System.GetTimestamp()), []);
        await journal.AppendAsync(waits!, CancellationToken.None);
    }

    // Its tables of before the folder's id.
    private static void Downgrade(string data)
    {
        using var database = new SqliteConnection($"Data Source={Path.Combine(data, "registry.db")};Pooling=False");
        database.Open();
        using var command = database.CreateCommand();
        command.CommandText = "DROP TABLE folder; DROP TABLE gone; PRAGMA user_version=1";
        command.ExecuteNonQuery();
    }

    private string NewFolder()
    {
        _folders.Add(Directory.CreateTempSubdirectory("pnh-").FullName);
        return _folders[^1];
    }

    // A message that waits for a tablet.
    private static async Task<string> LeaveOpenEventAsync(string data, string member = "\"ttl\":3600")
    {
        await using var hub = await TestHub.StartAsync(data);
        Assert.InRange((await hub.SendAsync("PUT", "/v1/users/lin/devices/tablet", """{"platform":"web"}""")).Status, 200, 201);
        var answer = await hub.SendAsync("POST", "/v1/events", $$$"""{"id":"waits","to":{"user":"lin"},{{{member}}}}""");
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
