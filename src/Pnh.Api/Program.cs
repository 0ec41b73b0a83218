using Pnh.Api.Commands;
using Pnh.Api.Hosting;

var output = new CommandOutput(Console.Out, Console.Error) { IsTerminal = !Console.IsOutputRedirected };
return await PnhCommandLine.RunAsync(args, HubCommands.Create(output), output);
