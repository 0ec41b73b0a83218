// Deliveries: what is lost, doubled, late, in the wrong order or at the wrong device.
const shards = "src/Pnh.Core/Shards";

export const core = [
  {
    name: "cut-off-call-is-lost", hurts: "a call does not ring because a connection was cut under it", tests: "Pnh.Core.Tests:HubUnansweredTests",
    file: "src/Pnh.Core/Push/PushSetbacks.cs", at: "⟦isCutOff⟧ && HasNoTimeForAPause(accepted)", fault: "false",
  },
  {
    name: "cut-off-call-rings-on", hurts: "a call rings again and again while connections are cut", tests: "Pnh.Core.Tests:HubUnansweredTests",
    file: "src/Pnh.Core/Push/PushSetbacks.cs", at: "(⟦Unanswered == 1⟧ && !isTooLate ? now : null)", fault: "Unanswered >= 1",
  },
  {
    name: "ttl-end-is-still-alive", hurts: "an event at the very end of its TTL is noted as framed, ends late, and its missed deadline is not counted", tests: "Pnh.Core.Tests:HubDeadlineTests",
    file: `${shards}/ShardState.cs`, at: "internal bool IsExpired(Event accepted) => ⟦accepted.ExpiresAt <= Now⟧;", fault: "accepted.ExpiresAt < Now",
  },
  {
    name: "ack-stops-no-push", hurts: "the phone rings though the app in front acknowledged", tests: "Pnh.Core.Tests:HubPushTests|HubSocketTests",
    file: `${shards}/Settlement.cs`, at: "item.State = end;\n        ⟦StopPush(item);⟧", fault: "_ = push;",
  },
  {
    name: "acked-elsewhere-still-rings", hurts: "a second phone rings for what was read on the first", tests: "Pnh.Core.Tests:HubSocketTests|HubPushTimeTests|HubPushTests",
    file: `${shards}/DeviceFrames.cs`, at: "if (⟦user.WaitElsewhere == 0⟧)", fault: "user.WaitElsewhere >= 0",
  },
  {
    name: "refused-push-ends-live-frame", hurts: "a delivery on an open socket is called failed before its ack", tests: "Pnh.Core.Tests:HubPushTests|HubSocketTests",
    file: `${shards}/PushSchedule.cs`, at: "if (⟦IsOnLiveSession(delivery)⟧)\n        {\n            settlement.Rest(delivery);", fault: "false",
  },
  {
    name: "collapse-takes-newer", hurts: "an older event replaces a newer one of its collapse key", tests: "Pnh.Core.Tests:HubMailboxTests",
    file: `${shards}/Settlement.cs`, at: "if (item.Class == accepted.Class && ⟦item.Order <= accepted.AcceptedAt⟧", fault: "item.Order >= accepted.AcceptedAt",
  },
  {
    name: "collapse-over-classes", hurts: "a message takes a ringing call out of the mailbox", tests: "Pnh.Core.Tests:HubMailboxTests",
    file: `${shards}/Settlement.cs`, at: "if (⟦item.Class == accepted.Class⟧ &&", fault: "true",
  },
  {
    name: "mailbox-one-too-many", hurts: "a mailbox grows past its bound", tests: "Pnh.Core.Tests:HubMailboxTests",
    file: `${shards}/Settlement.cs`, at: "while (⟦mailbox.Count >= _hub.MailboxItems⟧)", fault: "mailbox.Count > _hub.MailboxItems",
  },
  {
    name: "evicts-message-before-bulk", hurts: "a message is lost to keep an advertisement", tests: "Pnh.Core.Tests:HubMailboxTests",
    file: `${shards}/Mailbox.cs`, at: "if (⟦item.Class == EventClass.Bulk⟧)", fault: "item.Class == EventClass.Message",
  },
  {
    name: "newer-overtakes-replay", hurts: "an app that comes back sees the newest message before older ones", tests: "Pnh.Core.Tests:HubReplayTests|HubResumeTests",
    file: `${shards}/DeliveryStart.cs`, at: "isBehind = ⟦plan.Socket is not null && mailbox.IsBehind⟧ &&", fault: "plan.Socket is null && mailbox.IsBehind",
  },
  {
    name: "call-overtakes-call", hurts: "the second call rings before the first", tests: "Pnh.Core.Tests:HubReplayTests|HubResumeTests",
    file: `${shards}/Mailbox.cs`, at: "if (⟦item is { Class: EventClass.Call, TakesFrames: true } && item.ExpiresAt > now && !item.IsOn(session)⟧)", fault: "false",
  },
  {
    name: "retry-after-zero-at-once", hurts: "a provider that says 0 s is asked in a busy loop", tests: "Pnh.Core.Tests:HubPushTimeTests|HubPushTests",
    file: `${shards}/RetryWait.cs`, at: "if (result.RetryAfter is not { } given || ⟦given <= TimeSpan.Zero⟧)", fault: "given < TimeSpan.Zero",
  },
  {
    name: "retry-earlier-than-told", hurts: "the provider is asked before the time that it gave", tests: "Pnh.Core.Tests:HubPushTimeTests|HubPushTests",
    file: `${shards}/RetryWait.cs`, at: "return ⟦given + (room * Random.Shared.NextDouble())⟧;", fault: "given - (room * Random.Shared.NextDouble())",
  },
  {
    name: "ttl-zero-waits-in-lane", hurts: "a push of now or never comes later", tests: "Pnh.Core.Tests:HubPushTimeTests|HubPushTests|HubDeadlineTests",
    file: `${shards}/PushSchedule.cs`, at: "else if (⟦delivery.Withdrawal is null && delivery.Event.IsNowOrNever⟧)", fault: "false",
  },
  {
    name: "late-ack-leaves-mailbox-full", hurts: "an acknowledged event is replayed for ever", tests: "Pnh.Core.Tests:HubMailboxTests|HubReplayTests",
    file: `${shards}/Settlement.cs`, at: "Notes.AckedLate(mailbox, item, state.Now);\n            ⟦Leave(mailbox, item);⟧", fault: "_ = mailbox;",
  },
  {
    name: "missed-is-not-counted", hurts: "an app shows a hole and does not know", tests: "Pnh.Core.Tests:HubMissedTests",
    file: `${shards}/Settlement.cs`, at: "if (⟦item.TakesFrames && item.ExpiresAt > item.Order⟧)", fault: "item.Order > item.ExpiresAt",
  },
  {
    name: "missed-counts-late-acks", hurts: "an app is told to read again what it has", tests: "Pnh.Core.Tests:HubMissedTests",
    file: `${shards}/DeviceFrames.cs`, at: "state.Missed.Retract(⟦user.Sessions[index].Key⟧);", fault: "default",
  },
  {
    name: "missed-is-told-again", hurts: "an app reads everything again at each start", tests: "Pnh.Core.Tests:HubMissedTests",
    file: "src/Pnh.Core/Sessions/MissedTable.cs", at: "&& ⟦!session.Link.TryTellMissed(session.Key.Session, missed)⟧", fault: "session.Link.TryTellMissed(session.Key.Session, missed)",
  },
  {
    name: "replay-window-without-end", hurts: "a phone that comes back is flooded past its window", tests: "Pnh.Core.Tests:HubReplayTests",
    file: `${shards}/SessionReplay.cs`, at: "(⟦unacked == Window⟧ || !TryReplay", fault: "unacked < 0",
  },
  {
    name: "older-session-stays-open", hurts: "two sessions of one device stay open", tests: "Pnh.Core.Tests:HubSocketTests|HubResumeTests",
    file: `${shards}/SessionBook.cs`, at: "if (older is null || ⟦older.Key == newer.Key⟧)", fault: "older.Key != newer.Key",
  },
  {
    name: "restart-repeats-settled", hurts: "after a restart a phone rings again for what its provider had taken", tests: "Pnh.Core.Tests:HubRecoveryTests",
    file: `${shards}/RestoredShares.cs`, at: "share.AddsDevices : ⟦before is { IsSettled: false, IsJoined: false, IsResting: false }⟧ && !share.IsWithdrawn", fault: "before is { IsJoined: false }",
  },
  {
    name: "quiet-hours-hold-calls", hurts: "a call is silent in quiet hours", tests: "Pnh.Core.Tests:Tests.Plans.",
    file: "src/Pnh.Core/Users/UserSettings.cs", at: "return ⟦!isCall⟧ && QuietHours is { } hours", fault: "true",
  },
  {
    name: "do-not-disturb-forgotten", hurts: "a phone rings though its user asked for silence", tests: "Pnh.Core.Tests:Tests.Plans.",
    file: "src/Pnh.Core/Users/UserSettings.cs", at: "DoNotDisturbUntil is { } end && ⟦end > now⟧ ? end : now", fault: "end < now",
  },
  {
    name: "held-push-forgotten", hurts: "what quiet hours held is never pushed", tests: "Pnh.Core.Tests:HubHeldTests",
    file: `${shards}/Settlement.cs`, at: "if (⟦item.DueAt <= state.Now⟧)", fault: "item.DueAt < item.Order",
  },
  {
    name: "held-push-for-good", hurts: "a phone rings for what was held though it was read meanwhile in front on another device", tests: "Pnh.Core.Tests:HubHeldTests",
    file: `${shards}/DeviceFrames.cs`, at: "if (⟦acknowledged.User.FindLive(acknowledged.Device) is { State: SessionState.Active }⟧)", fault: "acknowledged.User.FindLive(acknowledged.Device) is { State: SessionState.Background }",
  },
  {
    name: "muted-topic-delivered", hurts: "a muted topic is delivered", tests: "Pnh.Core.Tests:Tests.Plans.",
    file: "src/Pnh.Core/Plans/Planner.cs", at: "topic && ⟦Contains(settings.MutedTopics, topic)⟧ ? PlanReasons.MutedTopic", fault: "Contains(settings.MutedClasses, topic)",
  },
  {
    name: "background-session-delays-push", hurts: "an app in the background gets its push only after the ack time", tests: "Pnh.Core.Tests:Tests.Plans.",
    file: "src/Pnh.Core/Plans/Planner.Pushes.cs", at: "if (⟦socket is { State: SessionState.Active }⟧)", fault: "socket is not null",
  },
  {
    name: "except-session-of-the-sender", hurts: "the sender's own session gets its event back", tests: "Pnh.Core.Tests:Tests.Plans.|HubTopicTests",
    file: "src/Pnh.Core/Plans/Planner.cs", at: ": ⟦Contains(accepted.Except?.Sessions, session.Session)⟧ ? PlanReasons.ExceptSession", fault: "Contains(accepted.Except?.Sessions, session.Device)",
  },
  {
    name: "stale-claim-granted", hurts: "a session goes to a connection that its client gave up long ago", tests: "Pnh.Core.Tests:HubSocketTests",
    file: "src/Pnh.Core/Sessions/LiveSession.cs", at: "⟦!IsDetached && Since - hello > (Link.FindCarrier(out _) is null ? TimeSpan.Zero : OtherNodeLeeway)⟧ && Since <= now", fault: "hello > now",
  },
  {
    name: "resume-keeps-the-old-time", hurts: "a hello that an edge reads late closes the connection that its client has by now", tests: "Pnh.Core.Tests:HubSocketTests",
    file: "src/Pnh.Core/Shards/SessionBook.cs", at: "Since = ⟦connectedAt ?? before.Since⟧", fault: "before.Since",
  },
  {
    name: "timer-fires-early", hurts: "a push leaves before the socket's time for its ack is over", tests: "Pnh.Core.Tests:TimingWheelTests",
    file: "src/Pnh.Core/Timing/TimingWheel.cs", at: "entry.DueTick = ⟦current + ticks + 1⟧;", fault: "current + ticks - 1",
  },
  {
    name: "greedy-app-takes-all", hurts: "an app that sends little is refused because another sends much", tests: "Pnh.Core.Tests:IntakeGateTests",
    file: "src/Pnh.Core/Intake/IntakeGate.cs", at: "(apps > 1 && ⟦inside < limit / apps⟧)", fault: "inside < 0",
  },
  {
    name: "greedy-app-crowds", hurts: "while the hub is overloaded one app's events stand before every other's", tests: "Pnh.Core.Tests:IntakeGateTests",
    file: "src/Pnh.Core/Intake/IntakeGate.cs", at: "if ((⟦!isCrowding⟧ && Alone", fault: "true",
  },
  {
    name: "share-of-memory-forgotten", hurts: "one app fills the memory, and every other app is refused", tests: "Pnh.Core.Tests:MemoryDoorTests",
    file: "src/Pnh.Core/Hubs/MemoryDoor.cs", at: "_isTight && ⟦guard!.RefusesShare(@class, ledger.Of(app).Held)⟧", fault: "guard!.RefusesShare(@class, 0)",
  },
  {
    name: "held-memory-grows-for-ever", hurts: "an app is refused for memory that it gave back long ago", tests: "Pnh.Core.Tests:MemoryDoorTests",
    file: "src/Pnh.Core/Shards/Mailbox.cs", at: "⟦item.Progress.Books.Holds(-MailboxItem.Bytes);⟧", fault: ";",
  },
  {
    name: "sessions-of-a-user-unbounded", hurts: "one token holds every connection of the hub", tests: "Pnh.Core.Tests:HubSocketTests",
    file: "src/Pnh.Core/Shards/SessionBook.cs", at: "if (⟦index < 0 && user.Sessions.Count >= most && user.Sessions.Count(static each => !each.IsDetached) >= most⟧)", fault: "index < -1",
  },
  {
    name: "few-are-too-many", hurts: "a publisher of few connections is refused by a hub that is not busy", tests: "Pnh.Core.Tests:IntakeGateTests",
    file: "src/Pnh.Core/Intake/ConcurrencyLimit.cs", at: "Math.Max(⟦Least⟧, (int)(Math.Min(_events, inside)", fault: "1",
  },
  {
    name: "limit-never-grows-back", hurts: "after one overload the hub refuses events for ever", tests: "Pnh.Core.Tests:ConcurrencyLimitTests",
    file: "src/Pnh.Core/Intake/ConcurrencyLimit.cs", at: "⟦time.GetElapsedTime(_refusedAt) >= Hold⟧ ? Most", fault: "_refusedAt < 0",
  },
  {
    name: "slow-disk-is-overload", hurts: "a slow disk makes the hub refuse events though its cores are idle", tests: "Pnh.Core.Tests:ConcurrencyLimitTests",
    file: "src/Pnh.Core/Intake/ConcurrencyLimit.cs", at: "new TimeSpan(Math.Max(0, ⟦(ticks / answers) - quickest⟧))", fault: "ticks / answers",
  },
  {
    name: "answer-before-the-turn-forgotten", hurts: "a phone rings for an event that its user answered before the fan-out came to it", tests: "Pnh.Core.Tests:HubLongFanOutTests",
    file: "src/Pnh.Core/FanOuts/FanOut.cs", at: "!HasBegun(user) && ⟦_skipped?.Contains(user) != true⟧;", fault: "true",
  },
  {
    name: "earlier-event-overtaken", hurts: "who opens a session before his page gets the next event of the topic before this one", tests: "Pnh.Core.Tests:HubEarlyTurnTests",
    file: "src/Pnh.Core/FanOuts/FanOut.cs", at: "⟦one.BeginEarly(shard, user, snapshot);⟧", fault: ";",
  },
  {
    name: "member-with-a-session-served-twice", hurts: "who acknowledged before his page gets the event again with it", tests: "Pnh.Core.Tests:HubEarlyTurnTests",
    file: "src/Pnh.Core/FanOuts/FanOut.cs", at: "return ⟦(Sessions.HasMember(user) && _left?.Contains(user) != true)⟧", fault: "_isPaused",
  },
  {
    name: "unread-member-forgotten", hurts: "a member with a session who could not be read at once never gets the event", tests: "Pnh.Core.Tests:HubEarlyTurnTests",
    file: "src/Pnh.Core/FanOuts/FanOut.cs", at: "Sessions.HasMember(user) && ⟦_left?.Contains(user) != true⟧", fault: "true",
  },
  {
    name: "early-turn-while-it-is-taken-back", hurts: "an event rings after it was taken back, and is never cleared", tests: "Pnh.Core.Tests:HubEarlyTurnTests",
    file: "src/Pnh.Core/FanOuts/FanOut.cs", at: "if (⟦!_isPaused⟧ && !_isStopped", fault: "true",
  },
  {
    name: "guest-who-became-a-member-served-twice", hurts: "who joined a topic and then became a member gets the event twice", tests: "Pnh.Core.Tests:HubEarlyTurnTests",
    file: "src/Pnh.Core/Shards/Shard.cs", at: "if (⟦begun?.HasGuest(key.User, plan.DeviceId) != true⟧)", fault: "true",
  },
  {
    name: "taken-up-twice-after-a-restart", hurts: "after a restart a member of a topic gets what he had again with his page", tests: "Pnh.Core.Tests:HubRecoveryTests|HubEarlyTurnTests|HubLongFanOutTests",
    file: "src/Pnh.Core/Dispatch/RestoredDispatch.cs", at: "if (⟦WasPlanned(key.User)⟧ || restored.Of", fault: "false",
  },
  {
    name: "new-users-planned-with-each-try", hurts: "after a restart users get an event again with each look for a user whose rows are lost", tests: "Pnh.Core.Tests:HubLostTests",
    file: "src/Pnh.Core/Dispatch/RestoredDispatch.cs", at: "(_isNewDone = ⟦_isNewDone⟧ || await TryNewAsync()", fault: "false",
  },
  {
    name: "resting-ends-twice", hurts: "a delivery that its device acknowledged while it was taken back has two ends", tests: "Pnh.Core.Tests:HubRestingTests",
    file: `${shards}/RestingMail.cs`, at: "if (!isHere && ⟦!state.HasEnded(resting.User, resting.Device, resting.Event)⟧)", fault: "true",
  },
  {
    name: "collapsed-mail-given", hurts: "a device that comes back gets an event that a newer one has replaced", tests: "Pnh.Core.Tests:HubRestingTests",
    file: `${shards}/RestingMail.cs`, at: "if (isExpired || ⟦mailbox.IsReplaced(mail.Event)⟧)", fault: "false",
  },
  {
    name: "lost-of-a-fan-out-forgotten", hurts: "who could not be read when a fan-out went on after a restart never gets it", tests: "Pnh.Core.Tests:HubLostTests",
    file: "src/Pnh.Core/Dispatch/RestoredDispatch.cs", at: "Rest = ⟦_lost.Count > 0⟧ ?", fault: "_lost.Count < 0",
  },
  {
    name: "call-waits-for-fan-outs", hurts: "a call to a topic waits behind two long fan-outs", tests: "Pnh.Core.Tests:FanOutTableTests",
    file: "src/Pnh.Core/FanOuts/FanOut.cs", at: "Line.Class == EventClass.Call ? ⟦FanOutPace.Call⟧ :", fault: "FanOutPace.Quick",
  },
  {
    name: "first-app-served-alone", hurts: "an app's event to its topic waits until another app has none any more", tests: "Pnh.Core.Tests:FanOutTableTests",
    file: "src/Pnh.Core/FanOuts/FanOutTable.cs", at: "⟦_turns[next.Line.Topic.App] = ++_turn;⟧", fault: ";",
  },
  {
    name: "not-reached-forgotten", hurts: "members whom a fan-out did not reach before its TTL are in no book", tests: "Pnh.Core.Tests:HubLongFanOutTests",
    file: "src/Pnh.Core/FanOuts/FanOut.cs", at: "return ⟦IsDue(user)⟧;", fault: "IsDue(user) && _isPaused",
  },
];
