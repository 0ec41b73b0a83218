using System.Globalization;
using System.Text.Json;
using Pnh.Api.Commands;
using Pnh.Api.Configuration;
using Pnh.Api.Operations;

namespace Pnh.Api.Hosting;

/// <summary>The commands that ask the running hub, at its operations listener: only it writes the database, and only it knows its console's tickets.</summary>
internal static class OperationsCommands
{
    /// <summary><c>pnh key add</c>.</summary>
    public static async Task<int> AddKeyAsync(AddKeyRequest request, CommandOutput output, CancellationToken cancellationToken)
    {
        if (HubCommands.Read(request.Configuration, output) is not { } options)
        {
            return ConfigurationErrors.ExitCode;
        }

        var answer = await KeysClient.AddAsync(HubOf(options), request.App, request.Scopes, cancellationToken);
        return answer.Secret is { } secret ? Print(output, secret) : HubCommands.Fail(output, answer.Failure!);
    }

    /// <summary><c>pnh key list</c>: a line per key, its parts in columns.</summary>
    public static async Task<int> ListKeysAsync(ListKeysRequest request, CommandOutput output, CancellationToken cancellationToken)
    {
        if (HubCommands.Read(request.Configuration, output) is not { } options)
        {
            return ConfigurationErrors.ExitCode;
        }

        var (answer, failure) = await KeysClient.ListAsync(HubOf(options), request.App, cancellationToken);
        foreach (var key in answer?.Keys ?? [])
        {
            var made = key.MadeAt?.ToString("yyyy-MM-dd'T'HH:mm:ss'Z'", CultureInfo.InvariantCulture) ?? "configuration";
            Print(output, $"{key.Id}  {made,-20}  {string.Join(',', key.Scopes)}");
        }

        return answer is not null ? 0 : HubCommands.Fail(output, failure!);
    }

    /// <summary><c>pnh key revoke</c>.</summary>
    public static async Task<int> RevokeKeyAsync(RevokeKeyRequest request, CommandOutput output, CancellationToken cancellationToken)
    {
        if (HubCommands.Read(request.Configuration, output) is not { } options)
        {
            return ConfigurationErrors.ExitCode;
        }

        var (answer, failure) = await KeysClient.RevokeAsync(HubOf(options), request.App, request.Id, cancellationToken);
        return answer is not null
            ? Print(output, $"{answer.Id} is revoked ({string.Join(',', answer.Scopes)})")
            : HubCommands.Fail(output, failure!);
    }

    /// <summary><c>pnh addresses</c>: a line for each account of which addresses rest, or how many were released or dropped.</summary>
    public static async Task<int> AddressesAsync(AddressesRequest request, CommandOutput output, CancellationToken cancellationToken)
    {
        if (HubCommands.Read(request.Configuration, output) is not { } options)
        {
            return ConfigurationErrors.ExitCode;
        }

        if (request.Releases is { } releases)
        {
            var path = $"{AddressesEndpoint.Path}{(releases ? AddressesEndpoint.Release : AddressesEndpoint.Drop)}?account={Uri.EscapeDataString(request.Account!)}";
            var (ended, refusal) = await HubOf(options).AskAsync(HttpMethod.Post, path, body: null, OperationsJson.Default.RestingAccountBody, cancellationToken);
            return ended is null ? HubCommands.Fail(output, refusal!) : Print(output, $"{ended.Count} addresses of {ended.Account} {(releases ? "get pushes again" : "were taken off their devices")}");
        }

        var (answer, failure) = await HubOf(options).AskAsync(HttpMethod.Get, AddressesEndpoint.Path, body: null, OperationsJson.Default.RestingListBody, cancellationToken);
        foreach (var one in answer?.Accounts ?? [])
        {
            Print(output, string.Create(CultureInfo.InvariantCulture, $"{one.Account}  {one.Count} rest since {one.Since:yyyy-MM-dd'T'HH:mm:ss'Z'}  {one.Reason}"));
        }

        return answer is not null ? 0 : HubCommands.Fail(output, failure!);
    }

    /// <summary><c>pnh console</c>.</summary>
    public static async Task<int> CreateConsoleLinkAsync(string[] configuration, CommandOutput output, CancellationToken cancellationToken)
    {
        if (HubCommands.Read(configuration, output) is not { } options)
        {
            return ConfigurationErrors.ExitCode;
        }

        var (answer, failure) = await HubOf(options).AskAsync(
            HttpMethod.Post, ConsoleLinkEndpoint.Path, body: null, OperationsJson.Default.ConsoleLinkBody, cancellationToken);
        return answer is not null ? Print(output, answer.Link) : HubCommands.Fail(output, failure!);
    }

    /// <summary><c>pnh cluster</c>.</summary>
    public static async Task<int> ShowClusterAsync(ClusterRequest request, CommandOutput output, CancellationToken cancellationToken)
    {
        if (HubCommands.Read(request.Configuration, output) is not { } options)
        {
            return ConfigurationErrors.ExitCode;
        }

        var (answer, failure) = await HubOf(options).AskAsync(
            HttpMethod.Get, ClusterEndpoint.Path, body: null, OperationsJson.Default.ClusterBody, cancellationToken);
        return answer is null ? HubCommands.Fail(output, failure!)
            : Print(output, request.IsJson ? JsonSerializer.Serialize(answer, OperationsJson.Default.ClusterBody) : string.Join(Environment.NewLine, ClusterTable.Lines(answer)));
    }

    private static OperationsClient HubOf(PnhOptions options) => new(options.OperationsUrls[0].ToClientUri(), options.Data);

    private static int Print(CommandOutput output, string line)
    {
        output.Out.WriteLine(line);
        return 0;
    }
}
