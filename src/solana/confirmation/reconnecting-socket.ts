import { WebSocket } from 'ws';
import { badOption } from '../../errors/errors.js';

/** Settings of {@link createReconnectingSocket}. */
export interface SocketOptions {
  /** `ws:` or `wss:` addresses; the next one is tried when one fails. */
  readonly urls: readonly string[];
  /** How often the other side is asked for a sign of life, in milliseconds. Default 15,000. */
  readonly pingEveryMs?: number;
  /** How long a sign of life may take before the connection counts as dead, in milliseconds. Default 5,000. */
  readonly silenceMs?: number;
  /** Pause before the first new attempt, in milliseconds; doubles with each failure. Default 250. */
  readonly firstRetryMs?: number;
  /** Longest pause between attempts, in milliseconds. Default 15,000. */
  readonly longestRetryMs?: number;
  /** Numbers from 0 up to, not including, 1, for jitter. Default `Math.random`. */
  readonly random?: () => number;
}

/** What the owner of a socket wants to know. */
export interface SocketEvents {
  onOpen(): void;
  onText(text: string): void;
  /** An open connection is gone; a new one is being made. */
  onDown(): void;
}

const DEFAULTS = {
  pingEveryMs: 15_000,
  silenceMs: 5_000,
  firstRetryMs: 250,
  longestRetryMs: 15_000,
  random: Math.random,
};
const HANDSHAKE_TIMEOUT_MS = 5_000;
const MAX_MESSAGE_BYTES = 1024 * 1024;

/**
 * A WebSocket client that connects when told to, and from then on stays connected: it notices half-open connections,
 * reconnects with back-off and jitter, and never throws. It does not keep the process alive.
 */
export class ReconnectingSocket {
  readonly #options: Required<SocketOptions>;
  readonly #events: SocketEvents;
  #socket: WebSocket | undefined;
  #retry: NodeJS.Timeout | undefined;
  #pings: NodeJS.Timeout | undefined;
  #silence: NodeJS.Timeout | undefined;
  #failures = 0;
  #urlIndex = 0;
  #closed = false;

  /** @throws {TollhouseError} `bad_option` when an address is not an absolute ws(s) URL */
  constructor(options: SocketOptions, events: SocketEvents) {
    this.#options = { ...DEFAULTS, ...options };
    this.#events = events;
    options.urls.forEach(checkUrl);
  }

  /** Connects, unless it is connected or about to be. */
  connect(): void {
    if (this.#closed || this.#socket !== undefined || this.#retry !== undefined) return;
    const { urls } = this.#options;
    const socket = new WebSocket(urls[this.#urlIndex % urls.length] ?? '', {
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
    });
    this.#socket = socket;
    socket.on('upgrade', (response) => response.socket.unref());
    socket.on('open', () => this.#opened());
    socket.on('pong', () => this.#heard());
    socket.on('message', (data, isBinary) => {
      this.#heard();
      if (!isBinary) this.#events.onText(data.toString());
    });
    // Every error is followed by 'close'; without a listener it would be thrown.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#down());
  }

  /** Sends a text if there is an open connection; answers whether it was. */
  send(text: string): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    // What is bytes leaves in one piece: a string is written as a head and a body.
    this.#socket.send(Buffer.from(text), { binary: false });
    return true;
  }

  /** Asks for a sign of life; drops the connection when none comes. */
  check(): void {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN || this.#silence !== undefined) return;
    this.#silence = setTimeout(() => socket.terminate(), this.#options.silenceMs);
    this.#silence.unref();
    socket.ping();
  }

  /** Ends the connection for good. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    const socket = this.#socket;
    if (socket === undefined) return;
    const ended = new Promise((resolve) => socket.once('close', resolve));
    socket.terminate();
    await ended;
  }

  #opened(): void {
    this.#pings = setInterval(() => this.check(), this.#options.pingEveryMs);
    this.#pings.unref();
    this.#events.onOpen();
  }

  #heard(): void {
    // Only what was heard proves that a connection is good: an endpoint may accept and drop it at once.
    this.#failures = 0;
    clearTimeout(this.#silence);
    this.#silence = undefined;
  }

  #down(): void {
    clearInterval(this.#pings);
    clearTimeout(this.#silence);
    this.#silence = undefined;
    this.#socket = undefined;
    this.#urlIndex += 1;
    if (!this.#closed) this.#retryLater();
    this.#events.onDown();
  }

  #retryLater(): void {
    const { firstRetryMs, longestRetryMs, random } = this.#options;
    const pause = Math.min(firstRetryMs * 2 ** this.#failures, longestRetryMs);
    this.#failures += 1;
    this.#retry = setTimeout(
      () => {
        this.#retry = undefined;
        this.connect();
      },
      pause * (0.5 + random() / 2),
    );
    this.#retry.unref();
  }
}

function checkUrl(text: string): void {
  const protocol = URL.canParse(text) ? new URL(text).protocol : '';
  if (protocol === 'ws:' || protocol === 'wss:') return;
  throw badOption('Solana WebSocket', 'an endpoint must be an address such as "wss://api.devnet.solana.com"', 'wsUrl');
}
