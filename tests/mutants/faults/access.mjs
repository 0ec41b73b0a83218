// Who gets in, and what a stranger may do.
const tests = "Pnh.Api.Tests:Tests.Access.";

export const access = [
  {
    name: "expired-hello-stays-away", hurts: "a phone that slept past its token's end never comes back", tests: "Pnh.Api.Tests:SocketTokenTests",
    file: "src/Pnh.Channels/WebSockets/Server/Admission.cs", at: "Refuse(string refusal) => ⟦refusal == IClientAuthenticator.Expired⟧\n        ? Expired", fault: "refusal.Length == 0",
  },
  {
    name: "planted-file-is-trusted", hurts: "another user's registry is taken for the hub's", tests: "Pnh.Core.Tests:DataFolderTests",
    file: "src/Pnh.Storage/Files/FolderRights.cs", at: "if (⟦owner.User != FileOwner.Self⟧)\n        {\n            throw", fault: "owner.User == uint.MaxValue",
  },
  {
    name: "expired-token-taken", hurts: "a token works after its end", tests,
    file: "src/Pnh.Api/Access/TokenClaims.cs", at: ": ⟦Expires.Value + SkewSeconds <= seconds⟧ ? IClientAuthenticator.Expired", fault: "Expires.Value + SkewSeconds * 100 <= seconds",
  },
  {
    name: "algorithm-chosen-by-token", hurts: "whoever makes a token chooses how it is checked", tests,
    file: "src/Pnh.Api/Access/TokenVerifier.cs", at: "return ⟦header.Algorithm != key.Algorithm⟧ ? \"wrong-algorithm\" : key.Verify", fault: "header.Algorithm == \"\"",
  },
  {
    name: "signature-not-looked-at", hurts: "anybody makes tokens", tests,
    file: "src/Pnh.Api/Access/TokenVerifier.cs", at: "if (⟦CryptographicOperations.FixedTimeEquals(expected, signature)⟧)", fault: "expected.Length == signature.Length",
  },
  {
    name: "client-reaches-other-users", hurts: "one user registers devices for another", tests: "Pnh.Api.Tests:Tests.Access.|DeviceTests",
    file: "src/Pnh.Api/Routing/AccessGate.cs", at: "|| ⟦!string.Equals(user, client.User, StringComparison.Ordinal)⟧)", fault: "user.Length == 0",
  },
  {
    name: "scope-not-asked", hurts: "a key that may only read sends events", tests: "Pnh.Api.Tests:Tests.Access.|ApiTests",
    file: "src/Pnh.Api/Access/Scope.cs", at: "return ⟦(effective & needed) == needed⟧;", fault: "(effective | needed) != Scope.None",
  },
  {
    name: "operator-path-on-public-port", hurts: "the console answers on the public port", tests: "Pnh.Api.Tests:AccessGateTests|FrontDoorTests",
    file: "src/Pnh.Api/Routing/AccessGate.cs", at: "|| ⟦!EndpointPlace.Of(endpoint).IsOn(ListenerMark.Of(context))⟧)", fault: "false",
  },
  {
    name: "revoked-key-works-on", hurts: "a revoked key still sends", tests: "Pnh.Api.Tests:Tests.Access.|StoredKeyTests",
    file: "src/Pnh.Api/Access/PublisherKeys.cs", at: "⟦caller?.Revoke();⟧", fault: "_ = caller;",
  },
  {
    name: "console-takes-any-origin", hurts: "another site drives the console of a signed-in operator", tests: "Pnh.Api.Tests:ConsoleTests|ConsoleProxyTests",
    file: "src/Pnh.Api/WebConsole/ConsoleGate.cs", at: "return origin.Count == 1 && ⟦IsOwn(origin[0]!, request)⟧ ? null", fault: "origin[0]!.Length > 0",
  },
  {
    name: "device-bound-token-opens-any", hurts: "a token for one device opens a session of another", tests: "Pnh.Channels.Tests:WebSocketServerTests|SocketTests|CloseCodeTests",
    file: "src/Pnh.Channels/WebSockets/Server/Admission.cs", at: "bound && ⟦!string.Equals(bound, hello.Device, StringComparison.Ordinal)⟧)", fault: "bound.Length == 0",
  },
  {
    name: "any-resolved-address-dialled", hurts: "a Web Push endpoint leads into the operator's network", tests: "Pnh.Channels.Tests:WebPushGuardTests",
    file: "src/Pnh.Channels/WebPush/GuardedDial.cs", at: "_network.Dial(⟦allowed⟧, target.Port", fault: "resolved",
  },
  {
    name: "mapped-loopback-is-public", hurts: "an IPv4-mapped address passes the guard", tests: "Pnh.Channels.Tests:PublicAddressTests|WebPushGuardTests",
    file: "src/Pnh.Channels/WebPush/PublicAddress.cs", at: "var plain = ⟦address.IsIPv4MappedToIPv6 ? address.MapToIPv4() : address⟧;", fault: "address",
  },
  {
    name: "moves-not-bounded", hurts: "one user takes the push addresses of all others", tests: "Pnh.Core.Tests:AddressMovesTests",
    file: "src/Pnh.Storage/Registry/SqliteDeviceWrites.cs", at: "if (⟦!claim.TryTake(moved)⟧)", fault: "!claim.TryTake(moved) && moved.Count > 1000",
  },
  {
    name: "loss-not-counted", hurts: "several users take one's address in turn until this one may not take it back", tests: "Pnh.Core.Tests:AddressMovesTests",
    file: "src/Pnh.Core/Users/AddressMoves.cs", at: "⟦TallyOf(loser).Lost++;⟧", fault: "_ = loser;",
  },
  {
    name: "client-moves-as-it-likes", hurts: "a client token moves addresses without a bound", tests: "Pnh.Api.Tests:AddressMoveTests",
    file: "src/Pnh.Api/Endpoints/DeviceRegistrations.cs", at: "Limits.DevicesByClient, ⟦_moves⟧", fault: "null",
  },
  {
    name: "move-without-taker", hurts: "the feed does not say who took an address", tests: "Pnh.Api.Tests:AddressMoveTests",
    file: "src/Pnh.Storage/Segments/Format/Payload.cs", at: "ProviderId = ⟦note.MovedTo⟧", fault: "null",
  },
  {
    name: "line-feed-ends-a-line", hurts: "a proxy and the hub make two different requests of one", tests: "Pnh.Api.Tests:StrangerTests",
    file: "src/Pnh.Api/Hosting/HubBuilder.cs", at: "DisableHttp1LineFeedTerminators\", ⟦true⟧);", fault: "false",
  },
  {
    name: "address-takes-all-places", hurts: "one address holds every connection", tests: "Pnh.Api.Tests:StrangerTests",
    file: "src/Pnh.Channels/Net/Epoll/ConnectionBudget.cs", at: "if (CountsAddress(address) && ⟦_addresses.GetValueOrDefault(address) >= PerAddress⟧)", fault: "PerAddress < 0",
  },
  {
    name: "address-never-leaves", hurts: "an address that came often is shut out for ever", tests: "Pnh.Api.Tests:StrangerTests",
    file: "src/Pnh.Channels/Net/Epoll/ConnectionBudget.cs", at: "if (⟦CountsAddress(place.Address)⟧ && --", fault: "place.Address == 1",
  },
  {
    name: "console-secret-in-the-clear", hurts: "who reads the folder signs in to the console", tests: "Pnh.Api.Tests:ConsoleSessionTests",
    file: "src/Pnh.Api/WebConsole/ConsoleSessions.cs",
    at: "private static string Hash(string secret) => ⟦Convert.ToHexString(SHA256.HashData(Encoding.UTF8.GetBytes(secret)))⟧;", fault: "secret",
  },
  {
    name: "old-journal-beside-no-registry", hurts: "after an upgrade without its registry the hub ends every open event", tests: "Pnh.Api.Tests:FolderPairingTests",
    file: "src/Pnh.Api/Engines/FolderPairing.cs", at: "return (⟦mark.IsEmpty⟧ || journal", fault: "false",
  },
  {
    name: "each-client-writes-a-line", hurts: "a stranger fills the disk with log lines", tests: "Pnh.Core.Tests:HubLoudLinesTests|PacedLogTests",
    file: "src/Pnh.Core/Diagnostics/PacedLog.cs", at: "if (⟦logLevel < LogLevel.Warning⟧)", fault: "true",
  },
  {
    name: "idle-strangers-keep-edges-out", hurts: "idle connections keep new edges from linking", tests: "Pnh.Api.Tests:LinkPeerTests",
    file: "src/Pnh.Api/Listeners/StrangerPlaces.cs", at: "⟦Enter(stranger)⟧?.Abort(", fault: "(Stranger?)null",
  },
  {
    name: "edge-speaks-for-any-session", hurts: "a stolen cluster key takes sessions and acknowledges for every user", tests: "Pnh.Channels.Tests:LinkPassTests",
    file: "src/Pnh.Channels/Links/Protocol/SessionPasses.cs", at: "if (⟦pass.Length <= SealBytes || !CryptographicOperations.FixedTimeEquals(Seal(session, pass[SealBytes..]), pass[..SealBytes])⟧)", fault: "pass.Length <= SealBytes",
  },
  {
    name: "ack-lost-while-sessions-are-said", hurts: "what a client acknowledged while its edge was linked again comes twice", tests: "Pnh.Channels.Tests:LinkReopenTests",
    file: "src/Pnh.Channels/Links/HeldReports.cs", at: "            ⟦Sort(session.Key, report);⟧", fault: "",
  },
];
