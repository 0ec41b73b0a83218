// The tokens of a client. Part of pnh.js.

const patience = 15_000;

/** What a token says: `aud` is the app, `sub` the user. Null for what is no JWT in form. */
export function claimsOf(token) {
  try {
    const [, payload] = /^[\w-]+\.([\w-]+)\.[\w-]+$/.exec(token);
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
    return Object(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return null;
  }
}

/** A token is asked for once in its life, and used until it ends or the hub refuses it. */
export class Tokens {
  #source;
  #asking = null;
  #token = null;
  #until = 0;

  constructor(source) {
    this.#source = source;
  }

  /** True for a text: there will be no other. */
  get isFixed() {
    return typeof this.#source !== 'function';
  }

  /** Rejects when there is none now. */
  async get() {
    if (this.#token && Date.now() < this.#until) return this.#token;
    return this.#asking ??= this.#ask().finally(() => { this.#asking = null; });
  }

  /** The hub does not take it. */
  refuse() {
    this.#token = null;
  }

  async #ask() {
    let timer;
    const late = new Promise((_, fail) => { timer = setTimeout(() => fail(new Error(`no token within ${patience / 1000} s`)), patience); });
    try {
      const given = this.isFixed ? this.#source : await Promise.race([this.#source(), late]);
      const token = typeof given === 'string' ? given.trim() : given;
      const claims = claimsOf(token);
      if (!claims) throw new Error('what was given as token is no JWT');
      // By its age too, as this clock may be behind.
      const now = Date.now();
      this.#until = Math.min(claims.exp * 1000, now + (claims.exp - (claims.iat ?? now / 1000)) * 1000) || 0;
      return this.#token = token;
    } finally {
      clearTimeout(timer);
    }
  }
}
