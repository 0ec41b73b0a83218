using Microsoft.Data.Sqlite;
using Pnh.Core.Stores;

namespace Pnh.Storage.Sqlite;

/// <summary>How a group gets onto stable storage, and what becomes of its waiters when it does not.</summary>
internal sealed partial class SqliteWriter
{
    private void CommitGroup()
    {
        Exception? fault = Volatile.Read(ref _damage);
        if (fault is null)
        {
            try
            {
                Write();
            }
            catch (Exception exception)
            {
                fault = Recover(exception);
            }
        }

        // First: a caller that has its answer asks next whether anything is taken.
        Volatile.Write(ref _refusal, fault as StoreUnavailableException);
        foreach (var work in _group)
        {
            if ((fault ?? work.Failure) is { } reason)
            {
                work.Failed(reason);
            }
            else
            {
                work.Committed();
            }
        }
    }

    /// <summary>While writes are refused callers stay away, so nobody else would find out that they are taken again: a page is written as it stands.</summary>
    private void TryAgain()
    {
        try
        {
            Begin();
            _database.Execute($"PRAGMA user_version={_database.Scalar("PRAGMA user_version")}");
            _database.Statement("COMMIT").Execute();
            _logPages += _database.TakePagesWritten();
            Volatile.Write(ref _refusal, null);
        }
        catch (Exception exception)
        {
            _ = Recover(exception);
        }
    }

    private void Write()
    {
        Begin();
        if (!TryApplyAll())
        {
            _database.Rollback();
            Begin();
            ApplyEach();
        }

        var started = _time.GetTimestamp();
        _database.Statement("COMMIT").Execute();
        _onSync?.Invoke(_time.GetElapsedTime(started));
        _logPages += _database.TakePagesWritten();
    }

    private void Begin() => _database.Statement("BEGIN IMMEDIATE").Execute();

    /// <summary>The usual way: no savepoints. False = some work broke a rule and may have left half of itself.</summary>
    private bool TryApplyAll()
    {
        try
        {
            foreach (var work in _group)
            {
                work.Apply(_database);
            }

            return true;
        }
        catch (Exception exception) when (IsOwnFault(exception))
        {
            return false;
        }
    }

    /// <summary>The second run, a savepoint around each, so that one bad piece does not take its group with it.</summary>
    private void ApplyEach()
    {
        foreach (var work in _group)
        {
            _database.Statement("SAVEPOINT work").Execute();
            try
            {
                work.Apply(_database);
            }
            catch (Exception exception) when (IsOwnFault(exception))
            {
                work.Failure = exception;
                _database.ResetStatements();
                _database.Statement("ROLLBACK TO work").Execute();
            }

            _database.Statement("RELEASE work").Execute();
        }
    }

    private static bool IsOwnFault(Exception exception) => exception is not SqliteException fault || fault.Fault() == SqliteFault.Work;

    /// <summary>Undoes the group and says what its waiters hear; a fault that leaves the disk's state unknown closes the writer for good.</summary>
    private Exception Recover(Exception exception)
    {
        var fault = exception as SqliteException;
        var reason = fault is not null && !IsOwnFault(fault) ? fault.ToStoreUnavailable(_database.FilePath) : exception;
        if (fault?.Fault() == SqliteFault.Damaged)
        {
            Close((StoreUnavailableException)reason);
        }

        try
        {
            _database.Rollback();
        }
        catch (SqliteException rollback)
        {
            Close(rollback.ToStoreUnavailable(_database.FilePath));
        }

        return reason;
    }
}
