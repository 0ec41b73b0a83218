using System.CommandLine;

namespace Pnh.Api.Commands;

/// <summary>A hub and a key, as the commands of a publisher have them: what is not said is that of the hub of this configuration, and of its demo.</summary>
internal sealed class PublisherOptions
{
    /// <summary>The variable that the key is read from: unlike an option it is in no list of processes.</summary>
    public const string KeyVariable = "PNH_KEY";

    private readonly Option<Uri> _hub = new("--hub")
    {
        Description = "Address of the hub; that of Pnh:Urls unless given",
        CustomParser = static result =>
        {
            if (Uri.TryCreate(result.Tokens[0].Value, UriKind.Absolute, out var address) && address.Scheme is "http" or "https")
            {
                return address;
            }

            result.AddError("--hub: must be an address like https://push.example.com");
            return null;
        },
    };

    private readonly Option<string> _key = new("--key") { Description = $"A publisher key; that of {KeyVariable}, else that of the demo, unless given" };

    /// <summary>Gives the command its options.</summary>
    public void AddTo(Command command)
    {
        command.Add(_hub);
        command.Add(_key);
    }

    /// <summary>Null = the command line has a token that is no configuration; it was said.</summary>
    public PublisherRequest? Read(ParseResult parsed, CommandOutput output) =>
        ConfigurationTokens.Read(parsed, output) is { } configuration ? new PublisherRequest(parsed.GetValue(_hub), parsed.GetValue(_key), configuration) : null;
}
