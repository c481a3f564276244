import type { Dispatcher, Pool } from 'undici';

type Controller = Dispatcher.DispatchController;
type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What is sent, and what is made of what comes back. */
export interface HttpPost<T> {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Largest response that is read, in bytes; a larger one is broken off with {@link ResponseTooLarge}. */
  readonly maxBytes: number;
  /** Deadline for all of it, connecting and reading included. */
  readonly timeoutMs: number;
  /** What a response comes to. */
  read(response: HttpResponse): T;
  /**
   * The error to reject with.
   * @param cause - undici's, {@link ResponseTooLarge}, or what `read` threw
   * @param hasLeft - whether a byte of the request may have left
   */
  failed(cause: unknown, hasLeft: boolean): Error;
  /** The error for one that is given up. While no byte of it has left, that keeps it here. */
  late(hasLeft: boolean): Error;
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

/** Posts a short text and reads the short response: without the streams and signals of `request`, which cost more than the call. */
export function post<T>(through: Pool, asked: HttpPost<T>): Promise<T> {
  const { path, headers, body } = asked;
  const exchange = new Exchange(asked);
  through.dispatch({ method: 'POST', path, headers, body }, exchange);
  return exchange.result;
}

const OPENING_BRACE = 0x7b;

/** A POST on its way. Only its first end counts. */
class Exchange<T> implements Dispatcher.DispatchHandler {
  readonly result: Promise<T>;
  readonly #asked: HttpPost<T>;
  readonly #timer: NodeJS.Timeout;
  #resolve: (result: T) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #controller: Controller | undefined;
  #givenUp: Error | undefined;
  #isOver = false;
  #hasLeft = false;
  #status = 0;
  #headers: Headers = {};
  readonly #chunks: Buffer[] = [];
  #length = 0;

  constructor(asked: HttpPost<T>) {
    this.#asked = asked;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // After a standstill of this process, what has come meanwhile is read first: it is not the endpoint that was late.
    this.#timer = setTimeout(() => setImmediate(() => this.#giveUp()), asked.timeoutMs);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#givenUp !== undefined) return controller.abort(this.#givenUp);
    this.#hasLeft = true;
  }

  onResponseStart(_controller: Controller, status: number, headers: Headers): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length > this.#asked.maxBytes) controller.abort(new ResponseTooLarge(this.#isReply()));
  }

  onResponseEnd(): void {
    this.#end();
    try {
      this.#resolve(this.#asked.read({ status: this.#status, headers: this.#headers, text: this.#text() }));
    } catch (error) {
      this.#reject(this.#asked.failed(error, this.#hasLeft));
    }
  }

  onResponseError(_controller: Controller, error: Error): void {
    if (this.#isOver) return;
    this.#end();
    this.#reject(this.#asked.failed(error, this.#hasLeft));
  }

  #giveUp(): void {
    if (this.#isOver) return;
    this.#end();
    const reason = this.#asked.late(this.#hasLeft);
    this.#givenUp = reason;
    this.#reject(reason);
    this.#controller?.abort(reason);
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #text(): string {
    const [only] = this.#chunks;
    const bytes = this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks);
    return bytes.toString();
  }

  #isReply(): boolean {
    return this.#status === 200 && this.#chunks[0]?.[0] === OPENING_BRACE;
  }
}
