// Why there is no connection, and what is final: the table in PROTOCOL.md. Part of pnh.js.

const longEnough = 10_000; // a session that lived so long was no failure
const finalProblems = ['other-origin', 'other-device']; // which no other token mends

/** Said by the hub, and the last two by this end. */
export const closeCodes = { drained: 4000, expired: 4002, refused: 4007, final: 4500, replaced: 4500, unauthorized: 4501, left: 4997, silent: 4998 };

/**
 * What to make of a connection's end. `problem` is the error that came last; `openedAt` is Infinity without a welcome; `reason` is this end's own. Gives what a page is told, whether it was the token's, whether the session
 * was none of a row of failures, and whether no other try could go better.
 */
export function judge({ code, text, reason, problem, openedAt, hub }) {
  const said = (code >= closeCodes.drained && problem) || {};
  const byHub = text && text.split(' by ')[0].replaceAll(' ', '-');
  const isOfToken = code === closeCodes.expired || code === closeCodes.refused || (code === closeCodes.unauthorized && !finalProblems.includes(said.code));
  return {
    detail: {
      code, why: said.message ?? (text || `connection lost (${code})`), reason: reason ?? said.code ?? (byHub || (openedAt === Infinity ? 'no-connection' : 'lost')), ...(said.help && { help: hub + said.help }),
    },
    isOfToken, hasLived: Date.now() - openedAt > longEnough, isFinal: !isOfToken && code >= closeCodes.final && code < 5000,
  };
}
