using Pnh.Api.Access;

namespace Pnh.Api.Commands;

/// <summary>
/// What the commands run. Each takes the command line's configuration tokens (<c>--Pnh:Urls=…</c>), to be handed to the configuration's
/// command-line source as they are, and gives the exit code: 0, or <see cref="PnhCommandLine.UsageExitCode"/> for wrong configuration.
/// </summary>
/// <param name="ServeAsync">Runs the hub until it is told to stop.</param>
/// <param name="SandboxAsync">Runs the stand-ins of the providers alone.</param>
/// <param name="TokenAsync">Makes and prints a client token.</param>
/// <param name="AddKeyAsync">Has the running hub make a publisher key, and prints it.</param>
/// <param name="ListKeysAsync">Prints an app's publisher keys.</param>
/// <param name="RevokeKeyAsync">Has the running hub revoke a publisher key.</param>
/// <param name="AddressesAsync">Prints, releases or drops addresses that rest.</param>
/// <param name="ConsoleAsync">Has the running hub make a link into its console, and prints it.</param>
/// <param name="ShowClusterAsync">Prints the nodes of the running hub's cluster.</param>
/// <param name="TeeAsync">Prints copies of what a hub accepts.</param>
/// <param name="CheckConfigAsync">Says what is wrong in the configuration of a node.</param>
/// <param name="ShowConfigAsync">Prints what is set.</param>
/// <param name="SendAsync">Sends an event.</param>
/// <param name="ShowEventAsync">Prints what became of an event.</param>
/// <param name="ShowUserAsync">Prints a user's devices and last events.</param>
/// <param name="DoctorAsync">Looks at what a hub needs.</param>
/// <param name="BackUpAsync">Copies the data of a hub.</param>
/// <param name="RestoreAsync">Makes a data folder of a copy.</param>
/// <param name="TailAsync">Prints what becomes of all events.</param>
/// <param name="BenchAsync">Runs the load tester against a hub.</param>
internal sealed record CommandActions(
    Func<ServeRequest, CancellationToken, Task<int>> ServeAsync,
    Func<string[], CancellationToken, Task<int>> SandboxAsync,
    Func<TokenRequest, CommandOutput, Task<int>> TokenAsync,
    Func<AddKeyRequest, CommandOutput, CancellationToken, Task<int>> AddKeyAsync,
    Func<ListKeysRequest, CommandOutput, CancellationToken, Task<int>> ListKeysAsync,
    Func<RevokeKeyRequest, CommandOutput, CancellationToken, Task<int>> RevokeKeyAsync,
    Func<AddressesRequest, CommandOutput, CancellationToken, Task<int>> AddressesAsync,
    Func<string[], CommandOutput, CancellationToken, Task<int>> ConsoleAsync,
    Func<ClusterRequest, CommandOutput, CancellationToken, Task<int>> ShowClusterAsync,
    Func<TeeRequest, CommandOutput, CancellationToken, Task<int>> TeeAsync,
    Func<ServeRequest, CommandOutput, Task<int>> CheckConfigAsync,
    Func<string[], CommandOutput, Task<int>> ShowConfigAsync,
    Func<SendRequest, CommandOutput, CancellationToken, Task<int>> SendAsync,
    Func<ShowEventRequest, CommandOutput, CancellationToken, Task<int>> ShowEventAsync,
    Func<ShowUserRequest, CommandOutput, CancellationToken, Task<int>> ShowUserAsync,
    Func<DoctorRequest, CommandOutput, CancellationToken, Task<int>> DoctorAsync,
    Func<BackupRequest, CommandOutput, CancellationToken, Task<int>> BackUpAsync,
    Func<BackupRequest, CommandOutput, CancellationToken, Task<int>> RestoreAsync,
    Func<TailRequest, CommandOutput, CancellationToken, Task<int>> TailAsync,
    Func<BenchRequest, CommandOutput, Task<int>> BenchAsync);

/// <summary>What a node does.</summary>
internal enum Role
{
    /// <summary>Everything; with addresses for links also a hub of edges.</summary>
    All,

    /// <summary>Everything but sockets, which its edges hold.</summary>
    Hub,

    /// <summary>Sockets, of a hub on another node.</summary>
    Edge,
}

/// <summary><c>pnh serve</c>.</summary>
internal sealed record ServeRequest(Role Role, string[] Configuration);

/// <summary><c>pnh token</c>. <paramref name="Device"/> null = any device; the lifetime is more than zero.</summary>
internal sealed record TokenRequest(string App, string User, string? Device, IReadOnlyList<string> Topics, TimeSpan Lifetime, string[] Configuration);

/// <summary><c>pnh key add</c>.</summary>
internal sealed record AddKeyRequest(string App, Scope Scopes, string[] Configuration);

/// <summary><c>pnh key list</c>.</summary>
internal sealed record ListKeysRequest(string App, string[] Configuration);

/// <summary><c>pnh key revoke</c>. <paramref name="Id"/>: the beginning of the key's SHA-256.</summary>
internal sealed record RevokeKeyRequest(string App, string Id, string[] Configuration);

/// <summary><c>pnh addresses</c>. <paramref name="Releases"/> null = lists them, false = drops them; then <paramref name="Account"/> is not null.</summary>
internal sealed record AddressesRequest(bool? Releases, string? Account, string[] Configuration);

/// <summary><c>pnh cluster</c>. <paramref name="IsJson"/>: for a program, not for a person.</summary>
internal sealed record ClusterRequest(bool IsJson, string[] Configuration);

/// <summary><c>pnh tee</c>.</summary>
internal sealed record TeeRequest(string App, string[] Configuration);

/// <summary>The hub and the key of a publisher's command; null = those of the configuration, and of its demo.</summary>
internal sealed record PublisherRequest(Uri? Hub, string? Key, string[] Configuration);

/// <summary><c>pnh send</c>. One of <paramref name="User"/> and <paramref name="Topic"/> is not null; the other members are null when they were not given.</summary>
internal sealed record SendRequest(PublisherRequest Publisher, string? User, string? Topic, string Class, string? Title, string? Body, string? Data, string? Id);

/// <summary><c>pnh event</c>. <paramref name="IsJson"/>: for a program, not for a person.</summary>
internal sealed record ShowEventRequest(PublisherRequest Publisher, string Id, bool IsJson);

/// <summary><c>pnh user</c>. <paramref name="Device"/> and <paramref name="State"/> null = any; <paramref name="Limit"/> events at most.</summary>
internal sealed record ShowUserRequest(PublisherRequest Publisher, string User, string? Device, string? State, int Limit, bool IsJson);

/// <summary><c>pnh doctor</c>. <paramref name="IsJson"/>: for a program, not for a person.</summary>
internal sealed record DoctorRequest(bool IsJson, string[] Configuration);

/// <summary><c>pnh backup</c> and <c>pnh restore</c>. <paramref name="Folder"/>: the copy.</summary>
internal sealed record BackupRequest(string Folder, string[] Configuration);

/// <summary><c>pnh tail</c>. <paramref name="After"/>: a cursor; null = from the oldest.</summary>
internal sealed record TailRequest(PublisherRequest Publisher, string? After, bool IsJson);

/// <summary><c>pnh bench</c>. <paramref name="Arguments"/>: the profile and its options, as the load tester takes them.</summary>
internal sealed record BenchRequest(string[] Arguments, string[] Configuration);

/// <summary>Where a command writes: results to one, complaints to the other, one line each.</summary>
internal sealed record CommandOutput(TextWriter Out, TextWriter Error)
{
    /// <summary>Whether a person reads it: what is redirected may be a log that many read, for long.</summary>
    public bool IsTerminal { get; init; }
}
