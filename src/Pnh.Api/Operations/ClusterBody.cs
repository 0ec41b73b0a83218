namespace Pnh.Api.Operations;

/// <summary>Answer of <c>GET /cluster</c>, and what the console shows of nodes.</summary>
/// <param name="Nodes">The hub first, then the edges by name.</param>
/// <param name="All">What they come to.</param>
internal sealed record ClusterBody(IReadOnlyList<NodeBody> Nodes, ClusterSum All);

/// <summary>A node. Of an edge whose build does not say what it takes these figures are null, and of one that has no link all are.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Role"><c>all</c>, <c>hub</c> or <c>edge</c>.</param>
/// <param name="Version">Of its program; empty = it does not say.</param>
/// <param name="Links">Of an edge: links that it has now; of the hub: all of them.</param>
/// <param name="Sessions">Sessions whose sockets it holds, in front or not.</param>
/// <param name="ActiveSessions">Those whose app is in front.</param>
/// <param name="Served">Requests served since its start: of a hub events and deliveries, of an edge frames.</param>
/// <param name="CpuSeconds">User and system time since its start.</param>
/// <param name="Cores">Cores that were busy over the last 60 s, on average.</param>
/// <param name="MemoryBytes">Resident memory.</param>
/// <param name="QFactor">Requests that it served per CPU second over the last 60 s; 0 = no CPU measured yet.</param>
internal sealed record NodeBody(
    string Name, string Role, string Version, int Links, long? Sessions, long? ActiveSessions, long? Served, double? CpuSeconds, double? Cores, long? MemoryBytes, double? QFactor);

/// <summary>All nodes together. A request is one of the hub's: a frame that an edge wrote for it is not another one.</summary>
/// <param name="Nodes">Nodes that are linked, the hub among them.</param>
/// <param name="Sessions">Sessions of all.</param>
/// <param name="ActiveSessions">Those whose app is in front.</param>
/// <param name="Served">Requests that the hub served since its start.</param>
/// <param name="CpuSeconds">Of all processes, since the start of each.</param>
/// <param name="Cores">Busy over the last 60 s.</param>
/// <param name="MemoryBytes">Resident memory.</param>
/// <param name="QFactor">The hub's requests per CPU second of all nodes, over the last 60 s; 0 = no CPU measured yet.</param>
internal sealed record ClusterSum(int Nodes, long Sessions, long ActiveSessions, long Served, double CpuSeconds, double Cores, long MemoryBytes, double QFactor);
