using System.Net;
using Pnh.Api.Commands;
using Pnh.Api.Hosting;
using Pnh.Api.Operations;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary><c>pnh console</c> against a real hub.</summary>
public sealed class ConsoleLinkTests
{
    [Fact]
    public async Task Ask_RunningHub_GivesALinkThatSignsInOnce()
    {
        await using var hub = await TestHub.StartAsync();
        var (answer, failure) = await AskAsync(hub.Host.OperationsAddress, hub.Folder);

        Assert.Null(failure);
        using var http = new HttpMessageInvoker(new SocketsHttpHandler { AllowAutoRedirect = false, UseCookies = false });
        Assert.Equal((true, false), (await SignsInAsync(http, answer!.Link), await SignsInAsync(http, answer.Link)));
        Assert.NotEqual(answer.Link, (await AskAsync(hub.Host.OperationsAddress, hub.Folder)).Answer!.Link);
    }

    [Fact]
    public async Task Post_WithoutTheOperatorsSecret_IsRefused()
    {
        await using var hub = await TestHub.StartAsync();

        Assert.Equal(401, (await hub.SendAsync("POST", ConsoleLinkEndpoint.Path, credential: "", operations: true)).Status);
        Assert.Equal(401, (await hub.SendAsync("POST", ConsoleLinkEndpoint.Path, operations: true)).Status);
        Assert.Equal(404, (await hub.SendAsync("POST", ConsoleLinkEndpoint.Path, credential: hub.Host.Start.OperatorSecret)).Status);
    }

    [Fact]
    public async Task Command_RunningHubAndNone_PrintsALinkOrALine()
    {
        await using var hub = await TestHub.StartAsync();
        using var printed = new StringWriter();
        using var complaint = new StringWriter();
        var output = new CommandOutput(printed, complaint);
        string[] command = ["console", $"--Pnh:Data={hub.Folder}"];

        Assert.Equal(0, await RunAsync(output, [.. command, $"--Pnh:OperationsUrls={hub.Host.OperationsAddress}"]));
        Assert.StartsWith($"{hub.Host.OperationsAddress}console?ticket=", printed.ToString(), StringComparison.Ordinal);
        Assert.Equal(1, await RunAsync(output, [.. command, "--Pnh:OperationsUrls=http://127.0.0.1:1"]));
        Assert.StartsWith("pnh: no hub answers at http://127.0.0.1:1/;", complaint.ToString(), StringComparison.Ordinal);
        Assert.Single(complaint.ToString().Trim().Split('\n'));
    }

    private static Task<int> RunAsync(CommandOutput output, string[] args) =>
        PnhCommandLine.RunAsync(args, HubCommands.Create(output), output).WaitAsync(TimeSpan.FromSeconds(20));

    private static Task<(ConsoleLinkBody? Answer, string? Failure)> AskAsync(Uri operations, string folder) => new OperationsClient(operations, folder)
        .AskAsync(HttpMethod.Post, ConsoleLinkEndpoint.Path, body: null, OperationsJson.Default.ConsoleLinkBody, CancellationToken.None)
        .WaitAsync(TimeSpan.FromSeconds(20));

    private static async Task<bool> SignsInAsync(HttpMessageInvoker http, string link)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, link);
        using var answer = await http.SendAsync(request, CancellationToken.None).WaitAsync(TimeSpan.FromSeconds(20));
        return answer.Headers.Contains("Set-Cookie") && answer.StatusCode != HttpStatusCode.Unauthorized;
    }
}
