using System.CommandLine;

namespace Pnh.Api.Commands;

/// <summary><c>pnh send --user ada --title Hello</c>: sends an event to a running hub, and prints its id.</summary>
internal static class SendCommand
{
    private static readonly string[] Classes = ["call", "message", "bulk", "transient"];

    /// <summary>The command.</summary>
    public static Command Create(CommandActions actions, CommandOutput output)
    {
        var target = new PublisherOptions();
        var user = CommandOptions.Name("--user", "For all devices of this user", required: false);
        var topic = CommandOptions.Name("--topic", "For the members of this topic", required: false);
        var name = new Option<string>("--class") { Description = "call, message, bulk or transient", DefaultValueFactory = static _ => "message" };
        name.AcceptOnlyFromAmong(Classes);
        var title = new Option<string>("--title") { Description = "Title of the notification" };
        var body = new Option<string>("--body") { Description = "Text of the notification" };
        var data = new Option<string>("--data") { Description = "What the app gets: JSON" };
        var id = new Option<string>("--id") { Description = "Id of the event; one is made unless given" };
        var command = new Command("send", "Send an event to a running hub, and print its id") { user, topic, name, title, body, data, id };
        target.AddTo(command);
        command.Validators.Add(result =>
        {
            if (result.GetResult(user) is null == result.GetResult(topic) is null)
            {
                result.AddError("send: say for whom, with --user or --topic");
            }
        });
        command.TreatUnmatchedTokensAsErrors = false;
        command.SetAction(async (parsed, cancellationToken) => target.Read(parsed, output) is { } publisher
            ? await actions.SendAsync(
                new(publisher, parsed.GetValue(user), parsed.GetValue(topic), parsed.GetValue(name)!, parsed.GetValue(title), parsed.GetValue(body), parsed.GetValue(data), parsed.GetValue(id)), output, cancellationToken)
            : PnhCommandLine.UsageExitCode);
        return command;
    }
}
