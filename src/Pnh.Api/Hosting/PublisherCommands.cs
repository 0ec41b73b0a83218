using System.Globalization;
using System.Text.Json;
using System.Text.Json.Nodes;
using Pnh.Api.Commands;
using Pnh.Api.Configuration;
using Pnh.Api.FirstStart;
using Pnh.Client;
using Pnh.Client.Events;
using Pnh.Client.Reports;

namespace Pnh.Api.Hosting;

/// <summary>What a publisher's commands do, by the client library: every expected failure is a line, with what to do about it, and exit code 1.</summary>
internal static class PublisherCommands
{
    /// <summary><c>send</c>.</summary>
    public static Task<int> SendAsync(SendRequest request, CommandOutput output, CancellationToken cancellationToken) => RunAsync(request.Publisher, output, async publisher =>
    {
        if (Message(request) is not { } message)
        {
            return HubCommands.Fail(output, "--data is no JSON");
        }

        var receipt = await publisher.SendAsync(message, cancellationToken);
        var remark = receipt switch { { Devices: 0 } => "  there is no device for it", { Duplicate: true } => "  it was taken before", _ => "" };
        await output.Out.WriteLineAsync(receipt.Id + remark);
        return 0;
    });

    /// <summary><c>event</c>.</summary>
    public static Task<int> ShowEventAsync(ShowEventRequest request, CommandOutput output, CancellationToken cancellationToken) => RunAsync(request.Publisher, output, async publisher =>
    {
        if (await publisher.FindAsync(request.Id, cancellationToken) is not { } timeline)
        {
            return HubCommands.Fail(output, $"the hub has no event '{request.Id}': it was never taken, was transient, or is past its retention");
        }

        await output.Out.WriteAsync(request.IsJson ? JsonSerializer.Serialize(timeline, PublisherJson.Default.PnhTimeline) + "\n" : EventText.Of(timeline));
        return 0;
    });

    /// <summary><c>user</c>.</summary>
    public static Task<int> ShowUserAsync(ShowUserRequest request, CommandOutput output, CancellationToken cancellationToken) => RunAsync(request.Publisher, output, async publisher =>
    {
        var user = await publisher.FindUserAsync(request.User, cancellationToken);
        var presence = await publisher.GetPresenceAsync(request.User, cancellationToken);
        var filter = new PnhUserEventFilter { Device = request.Device, State = request.State };
        var events = await publisher.ListEventsAsync(request.User, filter, cancellationToken).Take(request.Limit).ToListAsync(cancellationToken);
        var report = new UserReport(user.User, presence, user.Devices, user.Settings, events);
        await output.Out.WriteAsync(request.IsJson ? JsonSerializer.Serialize(report, PublisherJson.Default.UserReport) + "\n" : EventText.Of(report));
        return 0;
    });

    /// <summary><c>tail</c>.</summary>
    public static Task<int> TailAsync(TailRequest request, CommandOutput output, CancellationToken cancellationToken) => RunAsync(request.Publisher, output, async publisher =>
    {
        try
        {
            await foreach (var entry in publisher.FollowAsync(request.After, cancellationToken))
            {
                await output.Out.WriteLineAsync(request.IsJson ? JsonSerializer.Serialize(entry, PublisherJson.Default.PnhFeedEntry) : EventText.Of(entry));
            }
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            // A signal ends it.
        }

        return 0;
    });

    private static async Task<int> RunAsync(PublisherRequest request, CommandOutput output, Func<PnhPublisher, Task<int>> run)
    {
        var (hub, key) = (request.Hub, request.Key ?? Environment.GetEnvironmentVariable(PublisherOptions.KeyVariable));
        if (hub is null || key is null)
        {
            if (HubCommands.Read(request.Configuration, output) is not { } options)
            {
                return ConfigurationErrors.ExitCode;
            }

            hub ??= options.Urls[0].ToClientUri();
            key ??= DemoApp.Key(options.Data);
        }

        if (key is null)
        {
            return HubCommands.Fail(output, $"give a publisher key with --key or {PublisherOptions.KeyVariable}; pnh key add --app … --scope send,read prints one");
        }

        try
        {
            using var publisher = new PnhPublisher(new PnhPublisherOptions { Address = hub, Key = key, RetryFor = TimeSpan.FromSeconds(5) });
            return await run(publisher);
        }
        catch (PnhException refusal)
        {
            foreach (var error in refusal.Errors)
            {
                await output.Error.WriteLineAsync(string.Create(CultureInfo.InvariantCulture, $"pnh: {error.Pointer}: {error.Detail}"));
            }

            return HubCommands.Fail(output, refusal.Code == PnhException.Unreachable ? $"{hub} does not answer: {refusal.InnerException?.Message ?? refusal.Message}" : $"{refusal.Code}: {refusal.Message}");
        }
    }

    private static PnhEvent? Message(SendRequest request)
    {
        try
        {
            return new PnhEvent
            {
                Id = request.Id,
                To = request.User is { } user ? PnhTarget.OfUser(user) : PnhTarget.OfTopic(request.Topic!),
                Class = Enum.Parse<PnhClass>(request.Class, ignoreCase: true),
                Data = request.Data is null ? null : JsonNode.Parse(request.Data),
                Notification = request.Title is null && request.Body is null ? null : new PnhNotification { Title = request.Title, Body = request.Body },
            };
        }
        catch (JsonException)
        {
            return null;
        }
    }
}
