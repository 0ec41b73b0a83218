// What a browser reads of a push: the body as npm http_ece decrypts it, and the credential by RFC 8292, checked with Node's own ECDSA.
import { createPublicKey, verify } from "node:crypto";
import { createRequire } from "node:module";
import { defined, shown } from "./apple.mjs";

const { decrypt } = createRequire(import.meta.url)("http_ece");

export function open(body, { ecdh, auth }) {
  return JSON.parse(decrypt(body, { version: "aes128gcm", privateKey: ecdh, authSecret: auth }).toString("utf8"));
}

/** What docs/webpush.md says that a service worker reads. */
export function flat(id, event) {
  const { title, subtitle, body, sound, image, category, thread, link, channel, interruption, badge } = shown(event) ?? {};
  return {
    ...defined({
      id, class: event.class ?? "message", title, subtitle, body, sound, image, category, thread, link, channel, interruption, badge, silent: interruption === "passive" || undefined,
      locale: event.notification?.locales && "de", tag: event.collapseKey ?? id, data: event.large ? undefined : event.data, "pnh-fetch": event.large,
    }),
    ...event.webpush,
  };
}

/** Null, or what is wrong with the headers. */
export function problemOfHeaders(headers, url, ttl) {
  const [, token, key] = /^vapid t=([^,]+), ?k=(.+)$/.exec(headers.authorization) ?? [];
  if (!token) {
    return `Authorization: ${headers.authorization}`;
  }

  const point = Buffer.from(key, "base64url");
  const [head, claims, signature] = token.split(".");
  const jwk = { kty: "EC", crv: "P-256", x: point.subarray(1, 33).toString("base64url"), y: point.subarray(33).toString("base64url") };
  const isSigned = verify("sha256", Buffer.from(`${head}.${claims}`), { key: createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" }, Buffer.from(signature, "base64url"));
  const { aud, exp, sub } = JSON.parse(Buffer.from(claims, "base64url"));
  const left = exp - Date.now() / 1000;
  return !isSigned ? "the credential's signature is wrong"
    : aud !== url || left <= 0 || left > 86_400 || sub !== "mailto:ops@example.com" ? `claims ${JSON.stringify({ aud, exp, sub })}`
    : !/^[A-Za-z0-9_-]{1,32}$/.test(headers.topic) || headers.topic.length % 4 === 1 ? `Topic: ${headers.topic}`
    : headers["content-encoding"] !== "aes128gcm" ? `Content-Encoding: ${headers["content-encoding"]}`
    : Math.abs(Number(headers.ttl) - ttl) > 5 ? `TTL: ${headers.ttl} in place of ${ttl}` : null;
}
