// The feed from its start: the ends of all deliveries.

/** By "event user" the states in which deliveries ended, what came after an end aside. */
export async function readFeed(stage) {
  const ends = new Map();
  const answer = await fetch(`${stage.url}/v1/feed?follow=false`, { headers: { authorization: `Bearer ${stage.key}` }, signal: AbortSignal.timeout(120_000) });
  if (answer.status !== 200) {
    throw new Error(`the feed answered ${answer.status}`);
  }

  for (const line of (await answer.text()).split("\n").filter(Boolean)) {
    const entry = JSON.parse(line);
    if (entry.type === "delivery" && !["acked-late", "held", "unanswered"].includes(entry.state)) {
      const place = `${entry.id} ${entry.user}`;
      ends.set(place, [...(ends.get(place) ?? []), entry.state]);
    }
  }

  return ends;
}
