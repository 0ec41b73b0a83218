/** An event as its handlers get it. */
export interface PnhEvent<Data = unknown> {
  /** The same event by push or after a reconnect has the same id. A transient one has none to be acknowledged. */
  readonly id: string;
  readonly class: 'call' | 'message' | 'bulk' | 'transient';
  readonly data: Data;
  readonly notification?: { readonly title?: string; readonly body?: string; readonly [member: string]: unknown };
  /** Number in the session; none for a transient event. */
  readonly seq?: number;
  /** When the hub accepted it, Unix milliseconds; none for a transient event. */
  readonly at?: number;
  /** For how many seconds from then on it is of use; none for a transient event. */
  readonly ttl?: number;
  readonly topic?: string;
  readonly collapseKey?: string;
  readonly traceparent?: string;
}

/** An event that shall leave the screen. */
export interface PnhWithdrawal {
  readonly id: string;
  /** `withdrawn`, `answered`, `seen`, or the publisher's word. */
  readonly reason: string;
}

/** What happened to the connection. */
export type PnhStatus =
  | { readonly status: 'connecting' }
  | { readonly status: 'open'; readonly session: string; /** False: a new session; what is still alive comes by itself. */ readonly resumed: boolean }
  | { readonly status: 'waiting'; /** Milliseconds until the next try. */ readonly wait: number; readonly why: string }
  | { readonly status: 'closed'; /** The hub's code, 4500 to 4999: it says not to come back. None after `close`. */ readonly code?: number; readonly reason?: string };

/** An error frame of the hub, or a handler that failed. */
export interface PnhError extends Error {
  /** The hub's code, like `not-allowed`; `handler` for a handler that failed. */
  readonly code: string;
  /** Of a refused join (`not-allowed`, `too-many-topics`): which. They are asked for again on the next connection, those that were too many also after a `leave`. */
  readonly topics?: readonly string[];
  /** Of a failed handler: the event. */
  readonly event?: PnhEvent;
  /** Of a failed handler: false = the event comes again; true = it was the third time, and it is acknowledged. */
  readonly isGivenUp?: boolean;
}

export interface PnhOptions {
  /** `wss://…/v1/socket`. */
  readonly url: string;
  /** A client token, or what gives one; asked for at each connect, so an expired one is renewed. */
  readonly token: string | (() => string | Promise<string>);
  /** Id of this installation: the one that was registered, or one of its own. Random unless given, and in a page the same for its user in this browser; two connections with one id close each other. */
  readonly device?: string;
  /** True in pages: a reload goes on with the session, and with the ids that were handled (`sessionStorage`). */
  readonly keep?: boolean;
  /**
   * True in pages of a secure context: the tabs of a user (as the token says: `aud` and `sub`) share one socket and one device. One of them holds it and acknowledges; the others get each event once its handlers
   * have finished there. Topics are those of all tabs, the state is `active` while one of them is. When that tab goes, or does not answer for 15 s, another one goes on with the session.
   * False: each tab has a session of its own, and the copy of a tab takes it over.
   */
  readonly share?: boolean;
  /** Whether the app is in front. In a page that is seen by itself unless `visibility` is false. */
  readonly state?: 'active' | 'background';
  /** True in pages: `state` follows `document.visibilityState`. */
  readonly visibility?: boolean;
  /** The class of sockets where the runtime has none, such as npm's `ws`. */
  readonly WebSocket?: unknown;
}

export interface PnhClient {
  readonly status: PnhStatus['status'];
  /** Null until it is known. */
  readonly device: string | null;
  state: 'active' | 'background';
  /**
   * Each event once, in the hub's order, one after the other. It is acknowledged when the promise of each handler is fulfilled; if one is rejected the event comes again with the next connection, three times at most.
   * In a tab that hears from another one nothing comes again: that one has acknowledged. Gives what takes the handler away.
   */
  on<Data = unknown>(type: 'event', handler: (event: PnhEvent<Data>) => unknown): () => void;
  on(type: 'withdraw', handler: (withdrawal: PnhWithdrawal) => void): () => void;
  on(type: 'status', handler: (status: PnhStatus) => void): () => void;
  on(type: 'error', handler: (error: PnhError) => void): () => void;
  /** The topics that the hub has confirmed, of all tabs. An older hub confirms nothing: then those that it was asked for. */
  readonly joined: readonly string[];
  /** Wants the topics' events, in this session and in those after it. The other tabs get them too. What is refused comes as an `error` with `topics`. Throws `TypeError` for what is no name. */
  join(...topics: string[]): void;
  leave(...topics: string[]): void;
  /** The user answered the event here: it ends on the user's other devices. False when nobody hears it now. */
  answer(id: string, as: string): boolean;
  /** The user saw it here: the same, without an answer. */
  seen(id: string): boolean;
  /** Publishes, where the app allows clients to. False when nobody hears it now. */
  send(event: { readonly to: { readonly user?: string; readonly topic?: string }; readonly data: unknown; readonly class?: PnhEvent['class'] }): boolean;
  /** What a request to the hub's API needs, once the device is known: its address, a token of now, whom it speaks for, and the device. */
  identity(): Promise<{ readonly hub: string; readonly token: string; readonly user: string; readonly device: string }>;
  /** Ends the session, unless another tab goes on with it. */
  close(): void;
}

/** Opens a session and keeps it open until `close` is called or the hub says not to come back. Throws `TypeError` for missing options. */
export function connect(options: PnhOptions): PnhClient;
