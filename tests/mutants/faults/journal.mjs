// The journal and the registry: what a 202 promised and a crash or a damaged disk would take.
const segments = "src/Pnh.Storage/Segments";

export const journal = [
  {
    name: "answered-before-the-sync", hurts: "a 202 leaves before the event is on stable storage", tests: "Pnh.Core.Tests:JournalCrashTests",
    file: `${segments}/JournalLog.cs`, at: "try\n        {\n            ⟦file.Sync();⟧\n            return true;", fault: "_ = file;",
  },
  {
    name: "failed-sync-tried-again", hurts: "after a failed fsync the hub goes on as if nothing was lost", tests: "Pnh.Core.Tests:JournalFaultTests",
    file: `${segments}/JournalLog.cs`, at: "if (!TrySync(segment.File))\n        {\n            ⟦return _damage;⟧", fault: "_damage = null;",
  },
  {
    name: "folder-never-synced", hurts: "a new segment is gone after a power cut", tests: "Pnh.Core.Tests:JournalCrashTests",
    file: `${segments}/JournalLog.cs`, at: "try\n        {\n            ⟦_folder.Sync();⟧\n            return true;", fault: "_ = _folder;",
  },
  {
    name: "failed-group-stays-known", hurts: "an event that was refused is called a duplicate when it is sent again", tests: "Pnh.Core.Tests:JournalFaultTests",
    file: `${segments}/JournalWriter.Commit.cs`, at: "private void Rollback()\n    {\n        ⟦Index.Rollback();⟧", fault: "Index.Keep();",
  },
  {
    name: "refused-milestones-stay-listed", hurts: "after a full disk a user's events cannot be read, or have what never happened", tests: "Pnh.Core.Tests:JournalUserEventsTests",
    file: `${segments}/JournalWriter.Commit.cs`, at: "⟦Users.TakeBack();⟧\n    }\n\n    private void Rotate", fault: "Users.Keep();",
  },
  {
    name: "half-a-group-counts", hurts: "half of a torn batch comes back after a crash", tests: "Pnh.Core.Tests:JournalCrashTests",
    file: `${segments}/Recovery.Walk.cs`, at: "if (⟦!_isWhole && _groupStart >= _syncedEnd⟧)\n        {\n            _index.Rollback();", fault: "_groupStart < 0",
  },
  {
    name: "last-group-not-confirmed", hurts: "what a start serves as stored may be in the kernel's memory only", tests: "Pnh.Core.Tests:JournalFaultTests|JournalCrashTests",
    file: `${segments}/Recovery.Walk.cs`, at: "last.File.Write(bytes, _groupStart);\n        ⟦last.File.Sync();⟧", fault: "_ = last;",
  },
  {
    name: "damage-taken-for-the-end", hurts: "damage in the middle of the log cuts all that follows in silence", tests: "Pnh.Core.Tests:JournalDamageTests",
    file: `${segments}/Recovery.Walk.cs`, at: "if (⟦!wasSynced⟧)\n        {\n            Cut(segment, from);", fault: "true",
  },
  {
    name: "left-over-of-a-failed-group-read", hurts: "an event that was refused with 503 is delivered after a restart", tests: "Pnh.Core.Tests:JournalFaultTests|JournalCrashTests|JournalDamageTests",
    file: `${segments}/Recovery.Walk.cs`, at: "record.Kind == RecordKind.Void || record.Group > _group || (⟦record.Group == _group && record.GroupStart == _groupStart⟧)", fault: "record.Group > 0",
  },
  {
    name: "finished-too-early", hurts: "an open event is removed with its segment", tests: "Pnh.Core.Tests:JournalCarryTests|SegmentJournalTests",
    file: `${segments}/Index/IndexEntry.cs`, at: "now - acceptedAt >= retention.Ticks && (⟦isFinished || now >= expiresAt⟧)", fault: "isFinished || now < expiresAt",
  },
  {
    name: "open-event-not-carried", hurts: "an event that still waits is lost when its segment goes", tests: "Pnh.Core.Tests:JournalCarryTests|SegmentJournalTests",
    file: `${segments}/Retirement.cs`, at: "if (⟦!entry.IsFinished && now < expiresAt⟧)", fault: "entry.IsFinished && now < expiresAt",
  },
  {
    name: "other-apps-feed", hurts: "one app reads another's feed", tests: "Pnh.Core.Tests:SegmentJournalTests",
    file: `${segments}/Reads/FeedReader.cs`, at: "record.Kind == RecordKind.Address) && ⟦Payload.IsOf(record, app)⟧)", fault: "app.Length > 0",
  },
  {
    name: "feed-gap-untold", hurts: "a reader of the feed does not learn that it missed something", tests: "Pnh.Core.Tests:JournalFaultTests",
    file: `${segments}/Reads/FeedReader.cs`, at: "return (at, SegmentHeader.Bytes, ⟦!(header.Before == number && header.BeforeEnd == offset)⟧);", fault: "header.Before == number && header.BeforeEnd == offset && header.Before < 0",
  },
  {
    name: "other-body-same-id-accepted", hurts: "another event under a known id is answered as if it were stored", tests: "Pnh.Core.Tests:SegmentJournalTests",
    file: `${segments}/AppendWork.cs`, at: "_waiter.SetResult(⟦same ? AppendResult.Duplicate : AppendResult.Conflict⟧);", fault: "AppendResult.Duplicate",
  },
  {
    name: "address-confirmed-later-removed", hurts: "a provider's old 410 removes an address that the app has confirmed since", tests: "Pnh.Core.Tests:SqliteDeviceStoreTests",
    file: "src/Pnh.Storage/Registry/SqliteDeviceWrites.cs", at: ".Bind(4, address.Value).Bind(5, ⟦deadSince⟧)", fault: "DateTimeOffset.MaxValue",
  },
  {
    name: "cache-keeps-what-was-written-over", hurts: "a deleted device still gets pushes", tests: "Pnh.Core.Tests:ReadCacheTests|SqliteDeviceStoreTests",
    file: "src/Pnh.Storage/Registry/ReadCache.cs", at: "⟦now.Young.Remove(key);⟧\n", fault: "_ = now;",
  },
  {
    name: "read-fills-in-after-a-write", hurts: "a slow read puts an old registration back", tests: "Pnh.Core.Tests:ReadCacheTests",
    file: "src/Pnh.Storage/Registry/ReadCache.cs", at: "if (⟦stripe.Version == ticket⟧)", fault: "stripe.Version >= ticket",
  },
  {
    name: "rested-event-is-taken-up", hurts: "a start plans every event that only waits for a phone", tests: "Pnh.Core.Tests:SegmentJournalTests",
    file: `${segments}/Index/IndexTable.cs`, at: "if (⟦entry is { IsEmpty: false, IsFinished: false, IsRested: false }⟧)", fault: "entry is { IsEmpty: false, IsFinished: false }",
  },
  {
    name: "mail-lost-with-its-segment", hurts: "after the retention a phone that comes back gets nothing of what rests for it", tests: "Pnh.Core.Tests:JournalCarryTests",
    file: `${segments}/Carrier.cs`, at: "RecordFlags.Repeated | ⟦(record.Flags & RecordFlags.Rested)⟧ | more", fault: "RecordFlags.None",
  },
  {
    name: "mail-over-is-given-for-ever", hurts: "what was over at a phone ends each second anew", tests: "Pnh.Core.Tests:SegmentJournalTests",
    file: `${segments}/Index/MailTable.cs`, at: "for (var i = ⟦from⟧; i < over.Count; i++)", fault: "over.Count",
  },
];
