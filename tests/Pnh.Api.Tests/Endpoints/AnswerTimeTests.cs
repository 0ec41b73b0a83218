using System.Runtime.CompilerServices;
using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.Hosting;
using Pnh.Api.Access;
using Pnh.Api.Bodies;
using Pnh.Api.Endpoints;
using Pnh.Api.Tests.FrontDoor;
using Pnh.Api.Tests.Ingest;
using Pnh.Core.Intake;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Api.Tests.Endpoints;

/// <summary>Answers of any length at a stop: who reads has what is short whole, and who does not read is not waited for.</summary>
public sealed class AnswerTimeTests
{
    // Well within the 30 s that a stop may take.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);
    private static readonly string Long = new('x', 120);
    private readonly (string Secret, PublisherKey Key) _read = PublisherKey.Create("demo", Scope.Read);
    private readonly (string Secret, PublisherKey Key) _other = PublisherKey.Create("shop", Scope.Read);
    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private IHostApplicationLifetime _lifetime = null!;
    private int _underWay;

    [Theory]
    [InlineData("/v1/users:unreachable")]
    [InlineData("/v1/topics/t/members")]
    [InlineData("/v1/users/u")]
    public async Task Stop_DownloadThatNobodyReads_BreaksOff(string path)
    {
        await using var host = await StartAsync(new GivenDevices
        {
            Export = Devices,
            Members = Members,
            User = new UserSnapshot([.. Enumerable.Range(0, 60_000).Select(DeviceOf)], UserSettings.Default),
        });
        using var client = await RawClient.ConnectAsync(host.Public);
        await client.SendAsync($"GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {_read.Secret}\r\n\r\n");
        await client.ReceiveUntilAsync(static text => text.Contains("\r\n\r\n", StringComparison.Ordinal));
        await Task.Delay(500); // until the buffers between the two are full, as a rule

        _lifetime.StopApplication();

        await _ended.Task.WaitAsync(Patience);
    }

    [Theory]
    [InlineData("/v1/users/u", "{\"user\":\"u\",\"devices\":[]")]
    [InlineData("/v1/topics/t/members", "{\"topic\":\"t\",\"members\":[]}")]
    public async Task Stop_AskedMeanwhile_AnsweredStill(string path, string expected)
    {
        await using var host = await StartAsync(new GivenDevices());
        _lifetime.StopApplication();

        var answer = await Wire.GetAsync(host.Public, path, $"Authorization: Bearer {_read.Secret}");

        Assert.Equal(200, answer.Status);
        Assert.Contains(expected, answer.Body, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Unreachable_SecondOfAnAppAtOnce_TooManyUntilTheFirstIsRead()
    {
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var host = await StartAsync(new GivenDevices { Export = _ => Gated(gate.Task) });
        await using var reader = ApiReader.Of(host.Public, _read.Secret);
        await using var other = ApiReader.Of(host.Public, _other.Secret);
        Task<string>[] read = [reader.GetTextAsync("/v1/users:unreachable"), other.GetTextAsync("/v1/users:unreachable")];
        await EndToEnd.TestHub.EventuallyAsync(() => Volatile.Read(ref _underWay), static underWay => underWay == 2);

        for (var i = 0; i < 3; i++)
        {
            using var refused = await reader.GetAsync("/v1/users:unreachable");
            Assert.Equal((429, 10), ((int)refused.StatusCode, refused.Headers.RetryAfter?.Delta?.TotalSeconds));
            Assert.Contains("\"too-many-requests\"", await refused.Content.ReadAsStringAsync(), StringComparison.Ordinal);
        }

        gate.SetResult();
        var lines = await Task.WhenAll(read);
        Assert.All(lines, static text => Assert.StartsWith("{\"user\":\"u-0\",\"devices\":1,", text, StringComparison.Ordinal));
        Assert.Equal(lines[0], await reader.GetTextAsync("/v1/users:unreachable"));
    }

    private Task<ApiHost> StartAsync(IDeviceStore devices) => ApiHost.StartAsync(
        app =>
        {
            _lifetime = app.Lifetime;
            app.Use(async (_, next) =>
            {
                try
                {
                    await next();
                }
                finally
                {
                    _ended.TrySetResult();
                }
            });
            new UnreachableUsers(devices, new HistoryReads(new ReaderPlaces(TimeProvider.System)), [], TimeProvider.System, app.Lifetime).Map(app);
            new TopicEndpoints(null!, devices, new HistoryReads(new ReaderPlaces(TimeProvider.System)), app.Lifetime).Map(app);
            new UserEndpoints(devices, new DeviceJson([]), null!, null!, null!, app.Lifetime).Map(app);
        },
        keys: new PublisherKeys([_read.Key, _other.Key]));

    private static Device DeviceOf(int number) => new() { Id = $"{number}-{Long}", Platform = Platform.Web, RegisteredAt = DateTimeOffset.UnixEpoch };

    private static async IAsyncEnumerable<OwnedDevice> Devices([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        for (var i = 0; ; i++)
        {
            cancellationToken.ThrowIfCancellationRequested();
            yield return new OwnedDevice($"{i}-{Long}", DeviceOf(0));
            await Task.CompletedTask;
        }
    }

    private static async IAsyncEnumerable<string> Members([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await foreach (var owned in Devices(cancellationToken))
        {
            yield return owned.User;
        }
    }

    private async IAsyncEnumerable<OwnedDevice> Gated(Task gate)
    {
        Interlocked.Increment(ref _underWay);
        await gate;
        yield return new OwnedDevice("u-0", DeviceOf(0));
    }
}
