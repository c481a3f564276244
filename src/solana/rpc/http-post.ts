import type { Dispatcher, Pool } from 'undici';

type Controller = Dispatcher.DispatchController;
type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What is sent. */
export interface HttpPost {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Largest response that is read, in bytes; a larger one is broken off with {@link ResponseTooLarge}. */
  readonly maxBytes: number;
}

/** A response was longer than was to be read. */
export class ResponseTooLarge extends Error {
  override readonly name = 'ResponseTooLarge';
  /** @param isReply - whether it was a JSON object with status 200, and not the page of something that stands before the node */
  constructor(readonly isReply: boolean) {
    super('the answer is too large');
  }
}

/** What came back, read to its end. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A POST on its way. */
export interface PendingPost {
  /** Rejects with undici's error, or with what it was given up with. */
  readonly answer: Promise<HttpResponse>;
  /** Whether a byte of it may have left. While it is false, giving it up keeps it here. */
  readonly hasLeft: boolean;
  giveUp(reason: Error): void;
}

/** Posts a short text and reads the short response: without the streams and signals of `request`, which cost more than the call. */
export function post(through: Pool, { path, headers, body, maxBytes }: HttpPost): PendingPost {
  const exchange = new Exchange(maxBytes);
  through.dispatch({ method: 'POST', path, headers: { ...headers }, body }, exchange);
  return exchange;
}

const OPENING_BRACE = 0x7b;

class Exchange implements Dispatcher.DispatchHandler, PendingPost {
  readonly answer: Promise<HttpResponse>;
  #resolve: (answer: HttpResponse) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #controller: Controller | undefined;
  #givenUp: Error | undefined;
  hasLeft = false;
  #status = 0;
  #headers: Headers = {};
  readonly #chunks: Buffer[] = [];
  readonly #maxBytes: number;
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  giveUp(reason: Error): void {
    this.#givenUp = reason;
    this.#controller?.abort(reason);
    this.#reject(reason);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#givenUp !== undefined) return controller.abort(this.#givenUp);
    this.hasLeft = true;
  }

  onResponseStart(_controller: Controller, status: number, headers: Headers): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length > this.#maxBytes) controller.abort(new ResponseTooLarge(this.#isReply()));
  }

  onResponseEnd(): void {
    const text = Buffer.concat(this.#chunks).toString();
    this.#resolve({ status: this.#status, headers: this.#headers, text });
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#reject(error);
  }

  #isReply(): boolean {
    return this.#status === 200 && this.#chunks[0]?.[0] === OPENING_BRACE;
  }
}
