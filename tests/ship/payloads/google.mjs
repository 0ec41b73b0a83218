// A message as it went to FCM, taken back into the form in which npm firebase-admin takes one: its validator and its types judge that, and what the validator makes of it is what was sent.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

// The package exports neither its validator nor the types of one module: both are taken by their paths.
const load = createRequire(import.meta.url);
const sdk = dirname(load.resolve("firebase-admin/messaging"));
const { validateMessage } = load(join(sdk, "messaging-internal.js"));

export const types = join(sdk, "messaging-api.js");
const camel = (name) => name.replaceAll(/[_-]([a-z])/g, (_, letter) => letter.toUpperCase());
const snake = (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const milliseconds = (duration) => Number(duration.slice(0, -1)) * 1000;

/** The message in the SDK's own names. */
export function ofSdk({ notification, android, apns, webpush, fcm_options: options, ...message }) {
  return {
    ...message, ...has("notification", notification, image), ...has("android", android, ofAndroid),
    ...has("apns", apns, ({ headers, payload: { aps, ...payload } }) => ({ headers, payload: { aps: ofAps(aps), ...payload } })),
    ...has("webpush", webpush, named), ...has("fcmOptions", options, named),
  };
}

/** What the SDK would send, in the names of the REST API. Throws where its validator refuses. */
export function sent(message) {
  const copy = structuredClone(message);
  validateMessage(copy);
  const { fcmOptions, webpush, android, ...rest } = copy;

  // It leaves "high" in lower case; the REST API writes "HIGH", and takes either.
  return { ...rest, ...has("android", android, ({ priority, ...more }) => ({ ...more, ...has("priority", priority, (level) => level.toUpperCase()) })), ...has("webpush", webpush, (given) => wire(given)), ...has("fcm_options", fcmOptions, wire) };
}

/** As it went, with fields in the one spelling of the two that Google takes. */
export function canonical({ fcmOptions, fcm_options: options = fcmOptions, ...message }) {
  return { ...message, ...has("fcm_options", options, wire) };
}

const has = (name, value, map) => value === undefined ? {} : { [name]: map(value) };
const image = ({ image, ...rest }) => ({ ...rest, ...has("imageUrl", image, (url) => url) });
const mapped = (value, name) => Object.fromEntries(Object.entries(value).map(([key, member]) => [name(key), plain(member) && key !== "headers" ? mapped(member, name) : member]));
const plain = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const named = (value) => mapped(value, camel);
const wire = (value) => mapped(value, snake);

function ofAndroid({ priority, ttl, data, notification, ...rest }) {
  return {
    ...named(rest), ...has("priority", priority, (level) => level.toLowerCase()), ...has("ttl", ttl, milliseconds), ...has("data", data, (texts) => texts),
    ...has("notification", notification, ({ notification_priority: level, visibility, ...shown }) => ({
      ...image(named(shown)), ...has("priority", level, (text) => text.replace("PRIORITY_", "").toLowerCase()), ...has("visibility", visibility, (text) => text.toLowerCase()),
    })),
  };
}

function ofAps({ alert, "content-available": available, "mutable-content": mutable, "thread-id": threadId, ...aps }) {
  const flag = (value) => value === 1;
  return {
    ...aps, ...has("alert", alert, named), ...has("contentAvailable", available, flag), ...has("mutableContent", mutable, flag), ...has("threadId", threadId, (id) => id),
    ...has("sound", aps.sound, (sound) => plain(sound) ? { ...sound, critical: flag(sound.critical) } : sound),
  };
}
