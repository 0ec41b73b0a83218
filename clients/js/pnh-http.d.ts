import type { PnhClient, PnhEvent } from './pnh.js';

/** A live session of the user. */
export interface PnhSession {
  readonly session: string;
  readonly device: string;
  readonly state: 'active' | 'background';
  /** ISO 8601. */
  readonly since: string;
}

/** What waits for the client's device, oldest first, 100 at most; `next` is the `after` of the page that follows. For a page that must not wait for a socket; what it handled it acknowledges. */
export function inbox<Data = unknown>(client: PnhClient, options?: { readonly after?: string }): Promise<{ readonly events: readonly PnhEvent<Data>[]; readonly next?: string }>;

/** Takes events out of the inbox; gives how many of them were in it. */
export function acknowledge(client: PnhClient, ids: readonly string[]): Promise<number>;

/** The user's own live sessions, on all devices. */
export function presence(client: PnhClient): Promise<{ readonly user: string; readonly online: boolean; readonly active: boolean; readonly sessions: readonly PnhSession[] }>;

/** A request to the hub's API with the client's token, `path` from `/v1` on. Throws an Error with the hub's `code` when it is refused. */
export function request(client: PnhClient, method: string, path: string, body?: string): Promise<unknown>;
