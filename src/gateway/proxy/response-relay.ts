import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { defined } from '../../lib/defined.js';
import { isClientGone, onConnection } from '../../lib/http/connection-events.js';
import { hasLeft } from '../../lib/http/response-left.js';
import { replaceHeaders } from '../../lib/http/write-head.js';
import type { ExchangeEnd, ExchangeFailure, ExchangeRules, ExtraHeaders } from './exchange-rules.js';
import { createHoldUps, HELD_UP_MS, type HoldUps } from './hold-ups.js';
import { BodyTooLarge } from './request-body.js';
import { applyResponseFields, hasBody, rawFields, readResponseFields } from './response-fields.js';
import { resetAfter } from './told-resets.js';

type Controller = Dispatcher.DispatchController;

/** A response has fewer bytes than it declares. */
const SHORTER = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
/** Longer than it takes to write something down: what cannot be written must not keep a response back. */
const BEFORE_END_MS = 5_000;

/**
 * Passes one upstream's response on to a caller as it comes. An undici handler: whatever the caller has not taken yet keeps
 * the upstream waiting. When it fails after the head was sent, the caller's connection is cut, so that half a response
 * does not look like a whole one; before that nothing was written, and somebody else answers.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Resolves when it is over; rejects with what `beforeHead` and `beforeCut` throw. */
  readonly ended: Promise<ExchangeEnd>;
  readonly #res: ServerResponse;
  readonly #rules: ExchangeRules;
  readonly #stopWatching: () => void;
  #resolve: (end: ExchangeEnd) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #controller: Controller | undefined;
  #timer: NodeJS.Timeout | undefined;
  #over = false;
  #heard = false;
  #status = 0;
  #bytes = 0;
  /** The headers of the response before those of the upstream came. */
  #before: OutgoingHttpHeaders | undefined;
  #declaredBytes: number | undefined;
  /** Whether a reset may be its end: systems reset what a server closes that has not read all of the request's body. */
  #mayEndByReset = false;
  /** From the head on. */
  #holdUps: HoldUps | undefined;
  #bodyMovedAt = performance.now();
  /** What the caller has all of the response with. */
  #last: Buffer | undefined;
  /** Whether the upstream has said everything. */
  #complete = false;
  #isEndDue = false;
  #isEnded = false;
  /** Whether the caller has left, and it goes on. */
  #isAlone = false;
  #deadline: NodeJS.Timeout | undefined;

  constructor(res: ServerResponse, rules: ExchangeRules) {
    this.#res = res;
    this.#rules = rules;
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    res.on('close', this.#onClose).on('finish', this.#onFinish).on('drain', this.#onDrain);
    // Of a response that waits for others on its connection only that tells.
    this.#stopWatching = onConnection(res, 'close', this.#onClose);
    this.#watch(rules.headTimeoutMs);
    if (isClientGone(res)) this.#onClose();
  }

  /** Some of the request has moved on: the time begins anew, for the head as for a response that waits for it. */
  readonly onBodyMoved = (): void => {
    this.#bodyMovedAt = performance.now();
    if (!this.#complete) this.#timer?.refresh();
  };

  /** Nobody can wait any longer. What is here whole leaves, and what is held back until it is written down has its end in sight. */
  stop(): void {
    if (!this.#complete && (this.#status === 0 || this.#res.headersSent)) this.#breakOff('stopping');
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#over) controller.abort(new Error('nobody waits for the answer'));
  }

  /** The first byte is here. */
  onResponseStarted(): void {
    this.#heard = true;
  }

  onResponseStart(controller: Controller, status: number): void {
    if (status < 200 || this.#over) return;
    this.#status = status;
    const fields = readResponseFields(rawFields(controller), this.#rules.toPublic, this.#rules.isHidden);
    const isTooLarge = (fields.declaredLength ?? 0) > this.#rules.maxResponseBytes;
    if (isTooLarge && hasBody(this.#res, status)) return this.#fail('upstream_answer_too_large');
    clearTimeout(this.#timer);
    this.#declaredBytes = fields.declaredLength;
    this.#mayEndByReset = fields.lastsAsConnection && this.#rules.hasBody === true;
    this.#holdUps = createHoldUps();
    this.#before = { ...this.#res.getHeaders() };
    applyResponseFields(this.#res, fields);
    const extra = this.#askBeforeHead();
    if (extra === undefined) return;
    if (!(extra instanceof Promise)) return this.#writeHead(extra);
    controller.pause();
    extra.then(
      (headers) => {
        this.#writeHead(headers);
        controller.resume();
      },
      (error: unknown) => this.#crash(error),
    );
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#over) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#rules.maxResponseBytes) return this.#fail('upstream_answer_too_large');
    this.#timer?.refresh();
    // It leaves with the end, which others may hold back.
    if (this.#bytes === this.#declaredBytes) this.#last = chunk;
    else if (this.#res.write(chunk) === false && !this.#isAlone) this.#holdUp(controller);
    this.#endAlone();
  }

  onResponseEnd(): void {
    this.#complete = true;
    if (!this.#over && this.#res.headersSent) this.#endSoon();
  }

  onResponseError(_controller: Controller, error: Error): void {
    // With the head he has begun to have what his body was for.
    if (error instanceof BodyTooLarge) return this.#fail(this.#res.headersSent ? 'client_gone' : 'body_too_large');
    if (this.#controller === undefined) return this.#fail('upstream_unreachable', error);
    // A 304 may declare the length of what it stands for.
    if (!hasBody(this.#res, this.#status) && Reflect.get(error, 'code') === SHORTER) return this.onResponseEnd();
    const reset = this.#mayEndByReset ? resetAfter(error) : undefined;
    if (reset === 'all') return this.onResponseEnd();
    // He has had what came, and whether it was all nobody can tell.
    if (reset === 'some' && this.#bytes > 0) return this.#fail('client_gone', error);
    this.#breakOff('upstream_reset', error);
  }

  #holdUp(controller: Controller): void {
    this.#holdUps?.begin();
    controller.pause();
  }

  #goOn(): void {
    this.#holdUps?.end();
    this.#controller?.resume();
  }

  /** An upstream need not wait for ever for a caller who does not read, or does not send: he has had what was sent. */
  #breakOff(reason: ExchangeFailure, cause?: unknown): void {
    const body = { bytes: this.#bytes, declaredBytes: this.#declaredBytes };
    const isCallers = this.#holdUps?.areToBlame(body) === true || this.#isStarved(reason);
    this.#fail(isCallers ? 'client_gone' : reason, cause);
  }

  /** Whether it has begun to answer, and waits for the rest of a request that does not come. */
  #isStarved(reason: ExchangeFailure): boolean {
    if (this.#holdUps === undefined || this.#rules.isBodyDue?.() !== true) return false;
    return reason === 'upstream_timeout' || performance.now() - this.#bodyMovedAt >= HELD_UP_MS;
  }

  #askBeforeHead(): ExtraHeaders | Promise<ExtraHeaders> | undefined {
    try {
      return this.#rules.beforeHead?.(this.#status) ?? {};
    } catch (error) {
      this.#crash(error);
      return undefined;
    }
  }

  #writeHead(extra: ExtraHeaders): void {
    const res = this.#res;
    if (this.#over) return;
    for (const [name, value] of Object.entries(extra)) res.setHeader(name, value);
    res.writeHead(this.#status);
    this.#watch(this.#rules.idleTimeoutMs);
    if (this.#complete) return this.#endSoon();
    this.#endAlone();
    // Together with the first piece of the body where that is here already; else now, for streams.
    process.nextTick(() => {
      if (this.#bytes === 0 && !this.#over && !res.writableEnded) res.flushHeaders();
    });
  }

  #endSoon(): void {
    this.#isEndDue = true;
    const written = this.#rules.beforeEnd?.(this.#status);
    if (written === undefined) return this.#end();
    this.#watch(BEFORE_END_MS);
    written.then(this.#end, this.#end);
  }

  readonly #end = (): void => {
    if (this.#over || !this.#isEndDue) return;
    this.#isEndDue = false;
    this.#watch(this.#rules.idleTimeoutMs);
    this.#isEnded = true;
    if (this.#last === undefined) this.#res.end();
    else this.#res.end(this.#last);
    if (this.#isAlone) this.#fail('client_gone');
  };

  readonly #onDrain = (): void => {
    this.#timer?.refresh();
    this.#goOn();
  };

  readonly #onFinish = (): void => {
    if (!hasLeft(this.#res)) return this.#onClose();
    if (this.#complete && this.#close()) this.#resolve({ delivered: true, status: this.#status });
  };

  readonly #onClose = (): void => {
    if (this.#isEnded || !this.#goesOnAlone()) return this.#fail('client_gone');
    if (this.#over || this.#isAlone) return;
    this.#isAlone = true;
    const { headTimeoutMs, idleTimeoutMs } = this.#rules;
    // Nobody who waits would stop an upstream that drips.
    this.#deadline = setTimeout(() => this.#fail('client_gone'), headTimeoutMs + idleTimeoutMs);
    if (this.#res.headersSent) this.#watch(this.#rules.idleTimeoutMs);
    this.#res.destroy();
    this.#goOn();
  };

  #goesOnAlone(): boolean {
    return this.#rules.outlivesCaller?.() === true;
  }

  /** Nobody waits for it any more, and what has come of it tells that it cannot be kept either. */
  #endAlone(): void {
    if (this.#isAlone && !this.#goesOnAlone()) this.#fail('client_gone');
  }

  /** Whose silence it was: the caller's when there is something for it to read. */
  readonly #onTimeout = (): void => {
    if (this.#isEndDue) return this.#end();
    if (this.#complete || this.#res.writableNeedDrain) this.#onClose();
    else this.#breakOff('upstream_timeout');
  };

  #watch(timeoutMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onTimeout, timeoutMs);
  }

  #fail(reason: ExchangeFailure, cause?: unknown): void {
    if (!this.#close()) return;
    const status = this.#status === 0 ? {} : { status: this.#status };
    const end = { delivered: false, reason, isAnswered: this.#heard, ...status, ...defined({ cause }) } as const;
    const { beforeCut } = this.#rules;
    if (beforeCut === undefined || reason === 'client_gone' || !this.#res.headersSent) {
      this.#cut();
      return this.#resolve(end);
    }
    this.#controller?.abort(new Error('the exchange has failed'));
    beforeCut(this.#status, reason)
      .finally(() => this.#cut())
      .then(
        () => this.#resolve(end),
        (error: unknown) => this.#reject(error),
      );
  }

  #crash(error: unknown): void {
    if (!this.#close()) return;
    this.#cut();
    this.#reject(error);
  }

  /** Ends both sides of what cannot be finished; a response whose head was not sent is as it was before. */
  #cut(): void {
    const res = this.#res;
    this.#controller?.abort(new Error('the exchange has failed'));
    if (res.headersSent) return void res.destroy();
    if (this.#before !== undefined) replaceHeaders(res, this.#before);
  }

  /** False when it was over before. */
  #close(): boolean {
    if (this.#over) return false;
    this.#over = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#deadline);
    this.#stopWatching();
    this.#res.off('close', this.#onClose).off('finish', this.#onFinish).off('drain', this.#onDrain);
    return true;
  }
}
