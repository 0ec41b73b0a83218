// The tabs of a browser that share one connection: one of them leads and holds the socket, the others hear from it. Part of pnh.js.

const lookEvery = 2_000;
const asksAtMost = 2;
const grantedWithin = 2_000;

/** False without a secure context, which has no locks: then each tab has a connection of its own. */
export const canShare = () => Boolean(globalThis.navigator?.locks && globalThis.BroadcastChannel);

/**
 * One tab among those of the same name. It leads while it holds the lock of that name; when it goes, the next one that waits for the lock does. `client` has `lead`, `follow`, `hear(news)`, `takeOver(frame)`,
 * `change` and `wants`.
 */
export class Tabs {
  #name;
  #client;
  #id = crypto.randomUUID();
  #channel = null;
  #others = new Map(); // at the leader: what each other tab wants
  #leader = null;
  #leads = false;
  #life; // while it is here
  #endLife;
  #endLead;
  #waiting;
  #asks = 0; // that the leader did not answer
  #timer;

  constructor(name, client) {
    this.#name = name;
    this.#client = client;
  }

  get leads() {
    return this.#leads;
  }

  /** True while another tab would go on with the connection. */
  get hasOthers() {
    return this.#others.size > 0;
  }

  /** True when another tab handles events. */
  get handles() {
    return [...this.#others.values()].some(({ handles }) => handles);
  }

  /** What this tab and the others want. */
  get wants() {
    return [this.#client.wants(), ...this.#others.values()];
  }

  /** Waits for its turn to lead, and hears meanwhile from the tab that does. Rejects where the browser refuses it, as in a frame of another site, or does not answer. */
  async join() {
    const life = this.#life = new Promise((end) => { this.#endLife = end; });
    this.#asks = 0;
    try {
      this.#channel = new BroadcastChannel(this.#name);
      this.#channel.onmessage = ({ data }) => this.#hear(data);
      await new Promise((granted, refused) => {
        setTimeout(refused, grantedWithin, new Error('no lock is given'));
        // Its own lock says to the leader that it lives.
        navigator.locks.request(this.#lifeOf(this.#id), () => {
          granted();
          return life;
        }).catch(refused);
      });
    } catch (error) {
      if (life === this.#life) this.leave();
      throw error;
    }

    if (life !== this.#life) return;
    this.say();
    this.stand();
    this.#timer = setInterval(() => this.#look(), lookEvery);
  }

  /** The page goes: another tab leads from here on. */
  leave() {
    clearInterval(this.#timer);
    this.pass();
    this.#endLife?.();
    this.#life = null;
    this.#channel?.close();
    this.#channel = null;
  }

  /** Another tab shall lead. */
  pass() {
    this.#waiting?.abort();
    this.#leads = false;
    this.#others.clear();
    this.#endLead?.();
  }

  /** Waits for its turn to lead, behind the others that do. */
  stand(how = {}) {
    this.#waiting?.abort();
    const waiting = this.#waiting = new AbortController();
    const life = this.#life;
    const options = how.steal ? how : { signal: waiting.signal };
    navigator.locks.request(this.#name, options, () => {
      if (!life || life !== this.#life || waiting !== this.#waiting) return undefined;
      this.#leads = true;
      this.#leader = this.#id;
      const lead = new Promise((end) => { this.#endLead = end; });
      this.#client.lead();
      return lead;
    }).catch(() => {
      // Another tab took the lead, as this one did not answer; or it left, or asked anew.
      if (waiting !== this.#waiting || !this.#leads) return;
      this.#leads = false;
      this.#others.clear();
      this.#client.follow();
      this.stand();
    });
  }

  /** The leader, to all others. */
  tell(news) {
    if (this.#leads) this.#channel.postMessage({ ...news, leader: this.#id });
  }

  /** Another tab, to the leader: what it wants, or a frame for the hub. */
  say(frame) {
    if (!this.#leads) this.#channel?.postMessage({ tab: this.#id, wants: this.#client.wants(), frame });
  }

  #lifeOf(tab) {
    return `${this.#name}:${tab}`;
  }

  #hear({ tab, wants, leader, ...news }) {
    if (tab && this.#leads) {
      if (!this.#others.has(tab)) this.#watch(tab);
      this.#others.set(tab, wants);
      this.#client.takeOver(news.frame);
    } else if (leader) {
      this.#asks = 0;
      if (leader !== this.#leader && !this.#leads) {
        this.#leader = leader;
        this.say();
      }

      this.#client.hear(news);
    }
  }

  #watch(tab) {
    navigator.locks.request(this.#lifeOf(tab), () => {
      if (this.#others.delete(tab)) this.#client.change();
    });
  }

  /** A browser may put the leader to sleep, or it hangs. A tab that is seen does not wait for it. */
  #look() {
    if (this.#leads || globalThis.document?.visibilityState === 'hidden') return;
    if (this.#asks++ < asksAtMost) {
      this.say();
    } else {
      this.#asks = 0;
      this.stand({ steal: true });
    }
  }
}
