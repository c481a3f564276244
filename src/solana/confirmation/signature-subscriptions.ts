import { isRecord } from '../../lib/parsed.js';
import type { Commitment } from '../../protocol/types.js';
import { ReconnectingSocket, type SocketOptions } from './reconnecting-socket.js';

/** What a push said about a signature: it reached the commitment asked for. */
export interface SignatureNotification {
  /** Slot of the bank that told, see `Landing.slot`. */
  readonly slot: number;
  /** Solana's TransactionError as JSON, or null. */
  readonly err: unknown;
}

/** Who waits for a signature. Neither function may throw. */
export interface SignatureListener {
  /** Called at most once; the subscription is over then. */
  onNotification(notification: SignatureNotification): void;
  /** Whether the endpoint has taken the subscription. Lost with the connection, and won again with the next. */
  onLive(live: boolean): void;
}

interface Subscription {
  readonly signature: string;
  readonly commitment: Commitment;
  readonly listener: SignatureListener;
  /** The endpoint's name for it, once taken. */
  serverId?: ServerId;
}

type ServerId = number | string;

/** Notifications kept that came before the response to their subscription. */
const MAX_EARLY = 64;

/**
 * Solana's `signatureSubscribe` over one connection, which is made with the first subscription and kept. Nothing here
 * throws or rejects: a subscription that cannot be made is just never live.
 */
export class SignatureSubscriptions {
  readonly #socket: ReconnectingSocket;
  readonly #wanted = new Set<Subscription>();
  readonly #asked = new Map<number, Subscription>();
  readonly #live = new Map<ServerId, Subscription>();
  readonly #early = new Map<ServerId, SignatureNotification>();
  #lastId = 0;

  /** @throws {TollhouseError} `bad_option` when an address is not an absolute ws(s) URL */
  constructor(options: SocketOptions) {
    this.#socket = new ReconnectingSocket(options, {
      onOpen: () => {
        for (const subscription of this.#wanted) this.#ask(subscription);
      },
      onText: (text) => this.#read(text),
      onDown: () => this.#lost(),
    });
  }

  /**
   * Waits for a signature to reach a commitment. The request is on its way when this returns if the connection is
   * open. A node also tells of a transaction that landed before it was asked.
   *
   * @returns ends the subscription; harmless when it is over
   */
  subscribe(signature: string, commitment: Commitment, listener: SignatureListener): () => void {
    const subscription: Subscription = { signature, commitment, listener };
    this.#wanted.add(subscription);
    this.#socket.connect();
    this.#ask(subscription);
    return () => this.#cancel(subscription);
  }

  /** Makes sure that the connection is not half-open; for when something that it should have told was missed. */
  check(): void {
    this.#socket.check();
  }

  /** Ends all subscriptions and the connection. */
  async close(): Promise<void> {
    this.#wanted.clear();
    await this.#socket.close();
  }

  #ask(subscription: Subscription): void {
    this.#lastId += 1;
    const params = [subscription.signature, { commitment: subscription.commitment }];
    if (this.#send(this.#lastId, 'signatureSubscribe', params)) this.#asked.set(this.#lastId, subscription);
  }

  #send(id: number, method: string, params: readonly unknown[]): boolean {
    return this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  }

  #cancel(subscription: Subscription): void {
    const { serverId } = subscription;
    if (this.#wanted.delete(subscription) && serverId !== undefined) this.#unsubscribe(serverId);
  }

  #unsubscribe(id: ServerId): void {
    this.#live.delete(id);
    this.#lastId += 1;
    this.#send(this.#lastId, 'signatureUnsubscribe', [id]);
  }

  #read(text: string): void {
    const message = parse(text);
    if (message?.['method'] === 'signatureNotification') this.#notified(message['params']);
    else if (typeof message?.['id'] === 'number') this.#answered(message['id'], message['result']);
  }

  #answered(requestId: number, result: unknown): void {
    const subscription = this.#asked.get(requestId);
    if (subscription === undefined) return;
    this.#asked.delete(requestId);
    if (!isServerId(result)) return;
    if (this.#wanted.has(subscription)) this.#taken(result, subscription);
    else this.#unsubscribe(result);
  }

  #taken(id: ServerId, subscription: Subscription): void {
    subscription.serverId = id;
    this.#live.set(id, subscription);
    subscription.listener.onLive(true);
    const early = this.#early.get(id);
    if (early !== undefined) this.#tell(id, early);
  }

  #notified(params: unknown): void {
    if (!isRecord(params) || !isServerId(params['subscription'])) return;
    const notification = readNotification(params['result']);
    if (notification !== undefined) this.#tell(params['subscription'], notification);
  }

  #tell(id: ServerId, notification: SignatureNotification): void {
    const subscription = this.#live.get(id);
    if (subscription === undefined) {
      this.#keepEarly(id, notification);
      return;
    }
    this.#early.delete(id);
    this.#live.delete(id);
    this.#wanted.delete(subscription);
    subscription.listener.onNotification(notification);
  }

  #keepEarly(id: ServerId, notification: SignatureNotification): void {
    const [oldest] = this.#early.keys();
    if (this.#early.size >= MAX_EARLY && oldest !== undefined) this.#early.delete(oldest);
    this.#early.set(id, notification);
  }

  #lost(): void {
    this.#asked.clear();
    this.#live.clear();
    this.#early.clear();
    for (const subscription of this.#wanted) {
      delete subscription.serverId;
      subscription.listener.onLive(false);
    }
  }
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isServerId(value: unknown): value is ServerId {
  return typeof value === 'number' || typeof value === 'string';
}

/** Only a value with `err` is about the outcome; the text "receivedSignature" is not. */
function readNotification(result: unknown): SignatureNotification | undefined {
  if (!isRecord(result) || !isRecord(result['context']) || !isRecord(result['value'])) return undefined;
  const slot = result['context']['slot'];
  if (typeof slot !== 'number' || !('err' in result['value'])) return undefined;
  return { slot, err: result['value']['err'] };
}
