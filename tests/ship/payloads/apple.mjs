// What npm @parse/node-apn sends for the same fields, and where a push of the hub is meant to differ from it.
import { createRequire } from "node:module";

const { Notification } = createRequire(import.meta.url)("@parse/node-apn");

/** Members of `aps` by their names, as the library writes them. */
export function aps(event) {
  const { title, subtitle, body, sound, badge, category, thread, image, interruption, volume, relevance, mutable, titleKey, titleArgs, bodyKey, bodyArgs } = shown(event) ?? {};
  const critical = interruption === "critical" ? { name: sound ?? "default", critical: 1, volume: volume ?? 1 } : undefined;
  const note = new Notification(defined({
    body, title, subtitle, badge, sound: critical ?? sound, category, threadId: thread, interruptionLevel: interruption, relevanceScore: relevance, titleLocKey: titleKey, titleLocArgs: titleArgs, locKey: bodyKey,
    locArgs: bodyArgs, mutableContent: mutable || image !== undefined || event.large || undefined, contentAvailable: !event.notification || event.large || undefined,
  }));
  Object.assign(note.aps, event.apns?.aps);
  const { aps = {} } = JSON.parse(note.compile());

  // The library writes a body alone as a text, which iOS shows as it does {"body": …}.
  return typeof aps.alert === "string" ? { ...aps, alert: { body: aps.alert } } : aps;
}

/** Headers by their names. */
export function headers(event, topic, collapseId) {
  const isSilent = !event.notification;
  const isSaving = isSilent || (event.priority ? event.priority === "saving" : event.class === "bulk");
  const isCall = event.class === "call" && !isSilent;
  const note = new Notification({ topic: isCall ? `${topic}.voip` : topic, pushType: isSilent ? "background" : isCall ? "voip" : "alert", priority: isSaving ? 5 : 10, collapseId });
  return Object.fromEntries(Object.entries(note.headers()).map(([name, value]) => [name, `${value}`]));
}

/** The notification in the devices' language. */
export function shown({ notification: { locales, ...notification } = {}, notification: given }) {
  return given && { ...notification, ...locales?.de };
}

export function defined(members) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
