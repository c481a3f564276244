import type { Dispatcher, Pool } from 'undici';

type Controller = Dispatcher.DispatchController;
type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What is sent. */
export interface HttpPost {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
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
export function post(through: Pool, { path, headers, body }: HttpPost): PendingPost {
  const exchange = new Exchange();
  through.dispatch({ method: 'POST', path, headers: { ...headers }, body }, exchange);
  return exchange;
}

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

  constructor() {
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

  onResponseData(_controller: Controller, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const text = Buffer.concat(this.#chunks).toString();
    this.#resolve({ status: this.#status, headers: this.#headers, text });
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#reject(error);
  }
}
