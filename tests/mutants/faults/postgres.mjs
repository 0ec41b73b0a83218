// The registry and events in PostgreSQL.
const folder = "src/Pnh.Storage/Postgres";

export const postgres = [
  {
    name: "postgres-writes-without-its-lock", hurts: "two hubs write one database", tests: "Pnh.Core.Tests:PostgresDatabaseTests",
    file: `${folder}/PostgresDatabase.cs`, at: "if (⟦!await TryLockAsync(session, what, cancellationToken).ConfigureAwait(false)⟧)", fault: "!await TryLockAsync(session, what, cancellationToken).ConfigureAwait(false) && what == 0",
  },
  {
    name: "postgres-group-has-one-address-twice", hurts: "of two phones that register one address at once both believe that they have it", tests: "Pnh.Core.Tests:PostgresRegistryTests",
    file: `${folder}/Registry/PostgresWriter.cs`, at: "if (⟦own.Exists(keys.Contains)⟧)", fault: "own.Exists(keys.Contains) && group.Count > MostWrites",
  },
  {
    name: "postgres-lost-answer-is-not-asked-for", hurts: "an event whose commit's answer was lost stands twice", tests: "Pnh.Core.Tests:PostgresJournalTests",
    file: `${folder}/Journal/PostgresJournalWriter.cs`, at: "var committed = appends.FindAll(append => ⟦written.Contains(append.No)⟧);", fault: "written.Contains(-append.No)",
  },
  {
    name: "postgres-over-keeps-its-id", hurts: "an id whose event is over is a conflict for as long as its partition stands", tests: "Pnh.Core.Tests:PostgresJournalTests",
    file: `${folder}/Journal/PostgresStanding.cs`, at: "var place = rows.FindIndex(row => ⟦!row.IsOver(now, retention)⟧);", fault: "!row.IsOver(now, retention + retention)",
  },
];
