using System.Globalization;

namespace Pnh.LoadTest;

/// <summary>CPU time of the hub's process, user and system, in steps of 10 ms. Linux: proc(5), fields 14 and 15 of stat.</summary>
internal sealed class HubCpu
{
    private const double TicksPerSecond = 100;
    private readonly string _file;

    public HubCpu(int process)
    {
        _file = $"/proc/{process.ToString(CultureInfo.InvariantCulture)}/stat";
    }

    /// <summary>Seconds since its start.</summary>
    public double Seconds
    {
        get
        {
            var stat = File.ReadAllText(_file);

            // The name in brackets may hold spaces; what follows it begins with field 3.
            var fields = stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
            return (long.Parse(fields[11], CultureInfo.InvariantCulture) + long.Parse(fields[12], CultureInfo.InvariantCulture)) / TicksPerSecond;
        }
    }
}
