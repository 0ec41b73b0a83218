using System.CommandLine;

namespace Pnh.Api.Commands;

/// <summary><c>pnh event order-77</c>: prints what became of an event. <c>pnh tail</c>: prints what becomes of all, a line each, until a signal ends it.</summary>
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
