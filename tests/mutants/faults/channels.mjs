// Providers: what an answer means, and how often and with what they are asked.
export const channels = [
  {
    name: "safari-gets-silent-pushes", hurts: "Apple takes the site's permission for pushes away", tests: "Pnh.Channels.Tests:WebPushAppleTests",
    file: "src/Pnh.Channels/WebPush/WebPushPayload.cs", at: "is { Refusal: null, ShowsNothing: true } ? ⟦new WebPushBody([], ApplePush.ShowsNothing)⟧", fault: "body",
  },
  {
    name: "safari-clear-shows-nothing", hurts: "Apple takes the site's permission for clears away", tests: "Pnh.Channels.Tests:WebPushAppleTests",
    file: "src/Pnh.Channels/WebPush/WebPushSender.cs", at: "? WebPushPayload.OfVisible(delivery, ⟦_route.ClearText⟧, SiteOf(subscription))", fault: "\"\"",
  },
  {
    name: "gone-since-forgotten", hurts: "APNs' old 410 removes a token that was registered again", tests: "Pnh.Channels.Tests:ApnsResponseTests",
    file: "src/Pnh.Channels/Apns/ApnsResponse.cs", at: "DeadSince = meaning == DeliveryStatus.AddressDead ? ⟦deadSince⟧ : null,", fault: "null",
  },
  {
    name: "too-many-requests-is-an-outage", hurts: "one busy device stops all pushes", tests: "Pnh.Channels.Tests:ApnsResponseTests",
    file: "src/Pnh.Channels/Apns/ApnsResponse.cs", at: "TooManyRequests => ⟦DeliveryStatus.Throttled⟧,", fault: "DeliveryStatus.Unavailable",
  },
  {
    name: "wrong-topic-kills-address", hurts: "a wrong configuration empties the registry", tests: "Pnh.Channels.Tests:ApnsResponseTests",
    file: "src/Pnh.Channels/Apns/ApnsResponse.cs", at: "or \"BadEnvironmentKeyInToken\" or \"Forbidden\" => ⟦DeliveryStatus.Misconfigured⟧,", fault: "DeliveryStatus.AddressDead",
  },
  {
    name: "stand-in-address-dies", hurts: "a refused stand-in removes the VoIP token that was never used", tests: "Pnh.Channels.Tests:ApnsSenderTests|ApnsFaultTests|ApnsClearTests",
    file: "src/Pnh.Channels/Apns/ApnsSender.cs", at: "return result.Status == DeliveryStatus.AddressDead && ⟦!ReferenceEquals(AddressOf(delivery), delivery.Address)⟧", fault: "false",
  },
  {
    name: "young-token-replaced", hurts: "APNs refuses for 20 minutes after too many tokens", tests: "Pnh.Channels.Tests:ApnsCredentialTests",
    file: "src/Pnh.Channels/Apns/ApnsCredential.cs", at: "return ⟦Age(current) >= LeastAge⟧ ? Mint() : null;", fault: "true",
  },
  {
    name: "token-never-renewed", hurts: "every push is refused after an hour", tests: "Pnh.Channels.Tests:ApnsCredentialTests",
    file: "src/Pnh.Channels/Apns/ApnsCredential.cs", at: "return current is not null && ⟦Age(current) < _renewalAge⟧ ? current.Authorization : Renew();", fault: "true",
  },
  {
    name: "unregistered-is-our-fault", hurts: "dead FCM tokens are asked for ever", tests: "Pnh.Channels.Tests:FcmResponseTests",
    file: "src/Pnh.Channels/Fcm/FcmResponse.cs", at: "\"UNREGISTERED\" or \"SENDER_ID_MISMATCH\" => DeliveryResult.Of(⟦DeliveryStatus.AddressDead⟧, code),", fault: "DeliveryStatus.Rejected",
  },
  {
    name: "outage-without-pause", hurts: "FCM is asked again within the ten seconds that it asks for", tests: "Pnh.Channels.Tests:FcmResponseTests",
    file: "src/Pnh.Channels/Fcm/FcmResponse.cs", at: "Unavailable(code, ⟦retryAfter ?? RetryAfter.Jittered(OutagePause)⟧),", fault: "retryAfter ?? TimeSpan.FromSeconds(1)",
  },
  {
    name: "gone-subscription-kept", hurts: "a browser that is gone is asked for ever", tests: "Pnh.Channels.Tests:WebPushResponseTests",
    file: "src/Pnh.Channels/WebPush/WebPushResponse.cs", at: "404 or 410 => DeliveryResult.Of(⟦DeliveryStatus.AddressDead⟧, reason),", fault: "DeliveryStatus.Rejected",
  },
  {
    name: "retry-budget-without-end", hurts: "retries double the load on a provider that is down", tests: "Pnh.Channels.Tests:RetryBudgetTests",
    file: "src/Pnh.Channels/Provider/Sender/RetryBudget.cs", at: "if (⟦seen < RequestsPerRetry⟧)", fault: "seen < 0",
  },
  {
    name: "failed-fetch-takes-good-token", hurts: "a fault of Google's OAuth stops pushes while the token is still good", tests: "Pnh.Channels.Tests:FcmCredentialTests",
    file: "src/Pnh.Channels/Fcm/FcmCredential.cs", at: "_current = ⟦keep⟧ ? _current! with", fault: "keep && fetched.RenewFrom < TimeSpan.Zero",
  },
];
