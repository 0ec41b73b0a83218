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

/** Events that ended before this device took them, at the end of their TTL or because they were too many to be kept. */
export interface PnhMissed {
  readonly count: number;
  /** When the hub accepted the oldest of them, Unix milliseconds: from there on the page may lack something. */
  readonly since: number;
}

/** What happened to the connection. */
export type PnhStatus =
  | { readonly status: 'connecting' }
  | { readonly status: 'open'; readonly session: string; /** False: a new session; what is still alive comes by itself. */ readonly resumed: boolean }
  | ({ readonly status: 'waiting'; /** Milliseconds until the next try. */ readonly retryIn: number; /** The same. */ readonly wait: number } & PnhLoss)
  /** It does not come back: after `close` (then nothing else is there), or because no other try could go better. */
  | ({ readonly status: 'closed' } & Partial<PnhLoss>);

/** Why there is no connection. */
export interface PnhLoss {
  /**
   * A stable word. Of this end: `no-token` (what gives tokens failed, was late, or gave what is no JWT), `no-connection` (the dial failed), `no-answer` (no welcome within 15 s), `lost`, `silent`, `left` (the page goes), `other-user`.
   * Of the hub: the code of its error, such as `token-expired`, `bad-token`, `other-origin`, `other-device`, `too-many-sessions`, or the reason of its close, such as `drain`, `slow-consumer`, `replaced`, `kicked`.
   */
  readonly reason: string;
  /** The same for a person. */
  readonly why: string;
  /** The page of the hub's documents that speaks of it, where the hub said why. */
  readonly help?: string;
  /** The close code (PROTOCOL.md); 1006 or 0 = it broke; none when it was never dialed. */
  readonly code?: number;
}

/** An error frame of the hub, or a handler that failed. */
export interface PnhError extends Error {
  /** The hub's code, like `not-allowed`; `handler` for a handler that failed; `not-shared` where tabs cannot share a socket, `not-kept` where the browser refuses storage: a reload begins anew. */
  readonly code: string;
  /** Of a refused join (`not-allowed`, `too-many-topics`): which. They are asked for again on the next connection, those that were too many also after a `leave`. */
  readonly topics?: readonly string[];
  /** Of a failed handler: the event. */
  readonly event?: PnhEvent;
  /** Of a failed handler: false = it is called again, after a pause; true = it was the third time, and the event is acknowledged. */
  readonly isGivenUp?: boolean;
}

export interface PnhOptions {
  /** `wss://…/v1/socket`. */
  readonly url: string;
  /**
   * What gives a client token. It is asked for once in the life of a token, and again when the hub refuses one; it has 15 s. Whatever it gives or throws is not final: it is asked again, after a wait that grows.
   * A text is good until the hub refuses it, and then the client is closed.
   */
  readonly token: string | (() => string | Promise<string>);
  /** Id of this installation: the one that was registered, or one of its own. Random unless given, and in a page the same for its user in this browser; two connections with one id close each other. */
  readonly device?: string;
  /** True in pages: a reload goes on with the session, and with the ids that were handled (`sessionStorage`). */
  readonly keep?: boolean;
  /**
   * True in pages of a secure context: the tabs of a user (as the token says: `aud` and `sub`) share one socket and one device. One of them holds it and acknowledges; the others get each event once its handlers
   * have finished there. Topics are those of all tabs, the state is `active` while one of them is. When that tab goes or is put to sleep, does not answer for 6 s, or has no
   * welcome for 5 s, another one goes on with the session. Where the browser refuses locks (frames of other sites, blocked site data) each tab has its own socket, which an `error` `not-shared` says once.
   * False: each tab has a session of its own, and the copy of a tab takes it over.
   */
  readonly share?: boolean;
  /** Whether the app is in front. In a page that is seen by itself unless `visibility` is false. */
  readonly state?: 'active' | 'background';
  /** True in pages: `state` follows `document.visibilityState`. */
  readonly visibility?: boolean;
  /** How often the hub is to be heard from, in seconds, 5 to 60: 25 unless given. A connection of which nothing came for so long, and 8 s more, is lost. */
  readonly beat?: number;
  /** The class of sockets where the runtime has none, such as npm's `ws`. */
  readonly WebSocket?: unknown;
}

export interface PnhClient {
  readonly status: PnhStatus['status'];
  /** Null until it is known. */
  readonly device: string | null;
  state: 'active' | 'background';
  /**
   * Each event once, in the hub's order, one after the other; calls beside the others. While nobody handles events they wait, and are not acknowledged. An event is acknowledged when the promise of each handler is fulfilled; one that is rejected is called again after 1 s and after 2 s more, and then given up.
   * Gives what takes the handler away.
   */
  on<Data = unknown>(type: 'event', handler: (event: PnhEvent<Data>) => unknown): () => void;
  /** An event's handlers have finished; it is acknowledged when what this gives has finished too. */
  on<Data = unknown>(type: 'handled', handler: (event: PnhEvent<Data>) => unknown): () => void;
  /** At once, also while an event's handler waits; an event that nobody was given yet is never given. */
  on(type: 'withdraw', handler: (withdrawal: PnhWithdrawal) => void): () => void;
  /** Once, after the session has opened: read what is missing from your own back-end. */
  on(type: 'missed', handler: (missed: PnhMissed) => void): () => void;
  on(type: 'status', handler: (status: PnhStatus) => void): () => void;
  on(type: 'error', handler: (error: PnhError) => void): () => void;
  /** The topics that the hub has confirmed, of all tabs. An older hub confirms nothing: then those that it was asked for. */
  readonly joined: readonly string[];
  /** Wants the topics' events, in this session and in those after it. The other tabs get them too. What is refused comes as an `error` with `topics`. Throws `TypeError` for what is no name. */
  join(...topics: string[]): void;
  leave(...topics: string[]): void;
  /**
   * The user answered the event here: it ends on the user's other devices. Said again on each connection until the hub has it: then the promise gives true. False = it never will: the client was closed, or a hundred came after it.
   * An older hub confirms nothing: then true says that it was sent.
   */
  answer(id: string, as: string): Promise<boolean>;
  /** The user saw it here: the same, without an answer. */
  seen(id: string): Promise<boolean>;
  /** Publishes, where the app allows clients to. False when nobody hears it now. */
  send(event: { readonly to: { readonly user?: string; readonly topic?: string }; readonly data: unknown; readonly class?: PnhEvent['class'] }): boolean;
  /** What a request to the hub's API needs, once the device is known: its address, a token of now, whom it speaks for, and the device. */
  identity(): Promise<{ readonly hub: string; readonly token: string; readonly user: string; readonly device: string }>;
  /** Ends the session, unless another tab goes on with it. */
  close(): void;
}

/** Opens a session and keeps it open until `close` is called or the hub says not to come back. Throws `TypeError` for missing options. */
export function connect(options: PnhOptions): PnhClient;
