using Pnh.Api.Commands;
using Pnh.Api.Hosting;

var output = new CommandOutput(Console.Out, Console.Error);
return await PnhCommandLine.RunAsync(args, HubCommands.Create(output), output);
