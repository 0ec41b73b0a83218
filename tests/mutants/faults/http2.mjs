// The own HTTP/2 client and the HTTP front: what a peer could do with them.
const folder = "src/Pnh.Channels/Net/Http2";

export const http2 = [
  {
    name: "padding-outside-the-window", hurts: "a connection with padded answers stands still", tests: "Pnh.Channels.Tests:Http2FlowTests",
    file: `${folder}/Http2Connection.Frames.cs`, at: "_unacknowledged += ⟦header.Length⟧;", fault: "payload.Length",
  },
  {
    name: "goaway-repeats-what-was-taken", hurts: "a notification is shown twice after a GOAWAY", tests: "Pnh.Channels.Tests:Http2EndTests|DirectConnectionTests",
    file: `${folder}/Http2Connection.Ending.cs`, at: "if (⟦exchange.Stream > lastStream⟧)", fault: "exchange.Stream >= lastStream",
  },
  {
    name: "lost-connection-is-a-refusal", hurts: "what a lost connection had taken is sent twice", tests: "Pnh.Channels.Tests:Http2EndTests|DirectConnectionTests",
    file: `${folder}/Http2Connection.Ending.cs`, at: "EndUnderWay(0, ⟦SendFault.Ambiguous⟧, ProviderAnswer.ConnectionLost);", fault: "SendFault.Refused",
  },
  {
    name: "stream-limit-passed", hurts: "a provider cuts the connection for too many streams", tests: "Pnh.Channels.Tests:Http2FlowTests|Http2RequestTests",
    file: `${folder}/Http2Streams.cs`, at: "_waiting.Count > 0 && ⟦_underWay.Count < Limit⟧ && SendWindow > 0", fault: "_underWay.Count <= Limit",
  },
  {
    name: "ping-flood-answered", hurts: "a peer's pings fill the memory", tests: "Pnh.Channels.Tests:Http2EndTests",
    file: `${folder}/Http2Connection.Frames.cs`, at: "return ⟦_control.Length > MaxControlBytes⟧ ? Http2ErrorCode.EnhanceYourCalm : Http2ErrorCode.NoError;\n            }\n\n            if (BinaryPrimitives", fault: "false",
  },
  {
    name: "answer-without-bound", hurts: "a provider's endless answer holds its push and its stream for ever", tests: "Pnh.Channels.Tests:Http2AnswerTests|Http2FlowTests",
    file: `${folder}/Http2Connection.Frames.cs`, at: "if (⟦data.Length > room || (!endsStream && exchange.Received > StreamWindow / 2)⟧)", fault: "false",
  },
];
