namespace Pnh.Core.Diagnostics;

/// <summary>What a process has done, and what it took.</summary>
/// <param name="Served">Requests served since its start.</param>
/// <param name="Cpu">User and system time since its start.</param>
/// <param name="Cores">Cores that were busy over the last 60 s, on average; 0 = no CPU measured yet.</param>
/// <param name="QFactor">Requests served per CPU second over the last 60 s; 0 = no CPU measured yet.</param>
/// <param name="Memory">Resident memory, in bytes.</param>
public readonly record struct ProcessUse(long Served, TimeSpan Cpu, double Cores, double QFactor, long Memory);
