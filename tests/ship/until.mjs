// Looks again until it is so.
import { setTimeout as delay } from "node:timers/promises";

/** What `read` gives, asynchronous or not, once `accept` takes it. After so many seconds an error says what it was that did not come, and what was seen last. */
export async function until(what, read, accept = Boolean, seconds = 30) {
  let value;
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await delay(50)) {
    value = await read();
    if (accept(value)) {
      return value;
    }
  }

  throw new Error(`not within ${seconds} s: ${what}; last seen: ${JSON.stringify(value)}`);
}
