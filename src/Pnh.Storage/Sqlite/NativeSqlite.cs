using System.Runtime.InteropServices;
using SQLitePCL;

namespace Pnh.Storage.Sqlite;

/// <summary>
/// Picks the SQLite library, once per process: the system's when it is newer than the bundled 3.35.5 (distributions patch theirs), else the
/// bundled one. Both are driven through the same raw API.
/// </summary>
internal static unsafe class NativeSqlite
{
    private const string BundledName = "e_sqlite3";
    private const int BundledVersion = 3_035_005;

    private static readonly Lazy<string> Loaded = new(Load);

    /// <summary>Loads the library on first use; its version, e.g. <c>3.40.1</c>.</summary>
    public static string Version => Loaded.Value;

    private static string Load()
    {
        NativeLibrary.SetDllImportResolver(
            typeof(SQLite3Provider_e_sqlite3).Assembly,
            static (name, _, _) => name == BundledName ? SystemLibrary() : 0);
        raw.SetProvider(new SQLite3Provider_e_sqlite3());

        // Nobody reads SQLite's memory statistics, and each allocation would take a process-wide mutex for them.
        _ = raw.sqlite3_config(raw.SQLITE_CONFIG_MEMSTATUS, 0);
        return raw.sqlite3_libversion().utf8_to_string();
    }

    /// <summary>The system's library; 0 = none, too old, or not SQLite: the runtime then finds the bundled one.</summary>
    private static nint SystemLibrary()
    {
        if (!NativeLibrary.TryLoad("libsqlite3.so.0", out var library))
        {
            return 0;
        }

        if (NativeLibrary.TryGetExport(library, "sqlite3_libversion_number", out var export)
            && ((delegate* unmanaged[Cdecl]<int>)export)() > BundledVersion)
        {
            return library;
        }

        NativeLibrary.Free(library);
        return 0;
    }
}
