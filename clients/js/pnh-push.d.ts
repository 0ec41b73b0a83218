import type { PnhClient } from './pnh.js';

/** A notification that the user clicked. */
export interface PnhClick {
  readonly id: string;
  readonly class: 'call' | 'message' | 'bulk' | 'transient';
  readonly data?: unknown;
  /** The notification's `link`. */
  readonly link?: string;
}

export interface PnhPushOptions {
  /**
   * Address of the service worker, of the page's own origin. `/pnh-sw.js` unless given, in the scope `/pnh/`, where it replaces no worker of the site's; where the page was subscribed by it for the whole site before, it stays.
   * A site's own worker, with `importScripts`, has the scope of its address.
   */
  readonly serviceWorker?: string;
  /** Further members of the device's registration. `locale` is the browser's, unless given. */
  readonly device?: { readonly [member: string]: unknown };
  /** Called in the tab that a click on a notification brought to the front. The event counts as seen. */
  readonly onClick?: (click: PnhClick) => void;
}

/** Whether this browser has Web Push. On iOS only an installed web app does. */
export function canPush(): boolean;

/**
 * Subscribes this browser and registers the subscription for the client's device. Asks the user when he has not answered yet: browsers want that after a click. Call it on each load of the page from then on: it renews
 * what the browser or the hub's key changed, and tells the service worker what the user saw in the tab. Gives the permission, or `unsupported`. Throws an Error, with the hub's `code` when the hub refused.
 */
export function subscribe(client: PnhClient, options?: PnhPushOptions): Promise<NotificationPermission | 'unsupported'>;

/** Ends the subscription, here and at the hub. The device stays registered. */
export function unsubscribe(client: PnhClient, options?: Pick<PnhPushOptions, 'device' | 'serviceWorker'>): Promise<void>;
