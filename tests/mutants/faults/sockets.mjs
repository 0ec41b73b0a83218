// Sessions and frames: what a client would miss, see twice or be closed for.
const folder = "src/Pnh.Channels/WebSockets/Sessions";

export const sockets = [
  {
    name: "ack-of-the-future-taken", hurts: "a client confirms what it never got", tests: "Pnh.Channels.Tests:SessionTests|SocketTests|ResumeTests",
    file: `${folder}/SessionBacklog.cs`, at: "IsFuture(long seq) => ⟦seq > _seq⟧;", fault: "seq > _seq + 1",
  },
  {
    name: "ack-confirms-one-too-many", hurts: "an ack takes the next event with it, which is lost when the line breaks", tests: "Pnh.Channels.Tests:SessionTests|ReplayTests|ResumeTests",
    file: `${folder}/SessionBacklog.cs`, at: "var confirmed = ⟦seq > Confirmed⟧ ? _unacked.Dequeue()", fault: "seq >= Confirmed",
  },
  {
    name: "resume-repeats-nothing", hurts: "what was on its way when the line broke is lost", tests: "Pnh.Channels.Tests:ResumeTests",
    file: `${folder}/Session.Life.cs`, at: "_state = state;\n            ⟦_backlog.Repeat();⟧", fault: "_ = state;",
  },
  {
    name: "slow-consumer-has-no-bound", hurts: "one client that acknowledges nothing fills the hub's memory", tests: "Pnh.Channels.Tests:SlowConsumerTests|SessionTests",
    file: `${folder}/SessionBacklog.cs`, at: "if (Items > 0 && (⟦Items >= _maxItems⟧ || Bytes + frame.Tail.Length > _maxBytes))", fault: "Items >= _maxItems * 8",
  },
  {
    name: "expired-frame-sent", hurts: "a call rings after its end", tests: "Pnh.Channels.Tests:SessionTests|SlowConsumerTests",
    file: `${folder}/SessionBacklog.cs`, at: "if (⟦frame.IsExpired(now)⟧)\n            {\n                over++;", fault: "false",
  },
  {
    name: "withdrawal-behind-messages", hurts: "a phone rings on while its withdrawal waits behind a queue", tests: "Pnh.Channels.Tests:SessionTests|SlowConsumerTests|WriteOrderTests",
    file: `${folder}/SessionBacklog.cs`, at: "return Queued.Full;\n        }\n\n        ⟦_calls⟧.Enqueue(frame);", fault: "_others",
  },
  {
    name: "session-of-another-resumed", hurts: "a session goes on with a user's token who lost the topic", tests: "Pnh.Channels.Tests:ResumeTests",
    file: `${folder}/Session.Life.cs`, at: "_reports.TellDetached();\n            ⟦KnownTopics?.LeaveForbidden(identity);⟧", fault: "_ = identity;",
  },
  {
    name: "budget-never-spent", hurts: "one client's messages take the hub's time without bound", tests: "Pnh.Channels.Tests:CloseCodeTests|SocketTests",
    file: "src/Pnh.Channels/WebSockets/Server/MessageBudget.cs", at: "⟦_tokens--;⟧\n        return true;", fault: "_ = now;",
  },
  {
    name: "unmasked-frame-taken", hurts: "a proxy's cache can be poisoned (RFC 6455 section 5.1)", tests: "Pnh.Channels.Tests:FrameReaderTests|ConformanceTests",
    file: "src/Pnh.Channels/WebSockets/Rfc6455/FrameHeader.cs", at: "if (⟦(bytes[1] & Masked) == 0⟧ ||", fault: "bytes.Length == 0",
  },
  {
    name: "utf8-not-checked", hurts: "a text that is none reaches the reader", tests: "Pnh.Channels.Tests:FrameReaderTests|ConformanceTests",
    file: "src/Pnh.Channels/WebSockets/Rfc6455/FrameReader.cs", at: "found = ⟦Utf8.IsValid(scratch[..length])⟧ ? Received.Text", fault: "true",
  },
];
