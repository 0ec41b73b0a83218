using System.CommandLine;

namespace Pnh.Api.Commands;

/// <summary><c>pnh event order-77</c>: prints what became of an event. <c>pnh user ada</c>: prints what a user had. <c>pnh tail</c>: prints what becomes of all, a line each, until a signal ends it.</summary>
internal static class EventCommand
{
    /// <summary><c>event</c>.</summary>
    public static Command Create(CommandActions actions, CommandOutput output)
    {
        var target = new PublisherOptions();
        var id = new Argument<string>("id") { Description = "The event's id" };
        var json = CommandOptions.Json();
        var command = new Command("event", "Print what became of an event, device by device") { id, json };
        target.AddTo(command);
        command.TreatUnmatchedTokensAsErrors = false;
        command.SetAction(async (parsed, cancellationToken) => target.Read(parsed, output) is { } publisher
            ? await actions.ShowEventAsync(new(publisher, parsed.GetValue(id)!, parsed.GetValue(json)), output, cancellationToken)
            : PnhCommandLine.UsageExitCode);
        return command;
    }

    /// <summary><c>user</c>.</summary>
    public static Command CreateUser(CommandActions actions, CommandOutput output)
    {
        var target = new PublisherOptions();
        var user = new Argument<string>("user") { Description = "The user's id" };
        var device = new Option<string>("--device") { Description = "Only events with a delivery to this device" };
        var state = new Option<string>("--state") { Description = "Only events with a delivery in this state: pending, acked, accepted, expired, withdrawn, suppressed, failed or unconfirmed" };
        var limit = new Option<int>("--limit") { Description = "So many events at most", DefaultValueFactory = static _ => 10 };
        var json = CommandOptions.Json();
        var command = new Command("user", "Print a user's devices, and what became of the last events, newest first") { user, device, state, limit, json };
        target.AddTo(command);
        command.TreatUnmatchedTokensAsErrors = false;
        command.SetAction(async (parsed, cancellationToken) => target.Read(parsed, output) is { } publisher
            ? await actions.ShowUserAsync(
                new(publisher, parsed.GetValue(user)!, parsed.GetValue(device), parsed.GetValue(state), parsed.GetValue(limit), parsed.GetValue(json)), output, cancellationToken)
            : PnhCommandLine.UsageExitCode);
        return command;
    }

    /// <summary><c>tail</c>.</summary>
    public static Command CreateTail(CommandActions actions, CommandOutput output)
    {
        var target = new PublisherOptions();
        var after = new Option<string>("--after") { Description = "Go on after this cursor of an earlier line; from the oldest that is kept unless given" };
        var json = CommandOptions.Json();
        var command = new Command("tail", "Print what becomes of all events of an app, as it happens") { after, json };
        target.AddTo(command);
        command.TreatUnmatchedTokensAsErrors = false;
        command.SetAction(async (parsed, cancellationToken) => target.Read(parsed, output) is { } publisher
            ? await actions.TailAsync(new(publisher, parsed.GetValue(after), parsed.GetValue(json)), output, cancellationToken)
            : PnhCommandLine.UsageExitCode);
        return command;
    }
}
