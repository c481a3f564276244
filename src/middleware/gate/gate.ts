import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { type ErrorCode, TollhouseError } from '../../errors/errors.js';
import { errorText } from '../../lib/error-text.js';
import { createRequestNote } from '../../lib/http/request-note.js';
import { isPending, type MaybePromise } from '../../lib/maybe-promise.js';
import type { MustHold } from '../../pages/texts/must-hold.js';
import { answerPreflight, isPreflight } from './cors.js';
import { isExpress } from './express-only.js';
import { sendError, sendFault } from './respond.js';

/** What a gate says about a request, before anything is answered. */
export type Decision = Admitted | Refused;

/** The request may pass. */
export interface Admitted {
  readonly admitted: true;
  /** Lets it through: calls `next`, now or when what comes behind the gate is wrapped; or answers it as it was answered before. */
  enter(next: NextFunction): MaybePromise<void>;
}

/** The request may not pass, so far as this gate is concerned. */
export interface Refused {
  readonly admitted: false;
  /** What the gate asks for. */
  readonly wants: 'wallet' | 'payment' | 'key';
  /** Whether the request brought any of that, good or not. */
  readonly presented: boolean;
  /** Whether the payment or the pass that it brought is for another gate, as far as this one can tell. Default: no. */
  readonly isForOther?: boolean;
  /** Whether what it brought is no proof, as an old token: its sender is told so, and not asked to pay instead. Default: no. */
  readonly isFaulty?: boolean;
  /** What a wallet may hold to be let in, any one of it, which pages say. Default: that is not said. */
  readonly mustHold?: readonly MustHold[];
  /** Tells the client what is wrong or missing. */
  answer(): MaybePromise<void>;
}

/**
 * Decides about a request. Rejects with a TollhouseError, or throws one, when it cannot be decided: the chain or a store is
 * out of reach. What is known already is decided without a promise, and the request goes on in the same turn. Whoever is told "admitted" must enter.
 */
export type Admit = (req: Request, res: Response) => MaybePromise<Decision>;

/** Answers a request that another gate refuses with what this gate asks for: 402 with its terms, and the reason of the other. */
export type AskFirst = (req: Request, res: Response, reason: RefusalReason) => Promise<void>;

/** Why another gate refuses. */
export interface RefusalReason {
  readonly code: ErrorCode;
  /** Sentence for people. */
  readonly detail: string;
}

/** Where a gate keeps its {@link AskFirst}, if it has one. */
const ASK_FIRST: unique symbol = Symbol.for('tollhouse.ask-first');

/** Where a gate keeps its {@link Admit}; the same symbol in every copy of this package. */
const ADMIT: unique symbol = Symbol.for('tollhouse.admit');

/**
 * Express middleware of this package. Its parameters are those of `node:http`, which every request of Express has: it names no
 * type of the route that it stands before, so that Express goes on inferring parameters, body, query and locals.
 */
export type Middleware = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void;

/** Middleware that decides about a request, and that `anyOf` can ask. */
export interface Gate extends Middleware {
  /** For `anyOf`. */
  readonly [ADMIT]: (...request: never[]) => unknown;
  /** For gates before it on a route. */
  readonly [ASK_FIRST]?: (...request: never[]) => unknown;
}

/** Middleware for Express's own types as {@link Middleware}. Express gives it nothing but its own requests. */
export function asMiddleware(middleware: (req: Request, res: Response, next: NextFunction) => void): Middleware {
  return middleware as Middleware;
}

/**
 * Makes middleware of a decision: admitted requests go on, the others are answered, outages too. A preflight, which carries
 * no credentials, is answered here and lets nothing behind the gate run; which origins may ask is for `crossOrigin` or the app's
 * own policy before the gate to say. Any other OPTIONS request is judged as all are.
 * @param where - the function that makes the gate, for messages to the developer
 * @param askFirst - for a gate that asks for a payment
 */
export function createGate(where: string, admit: Admit, askFirst?: AskFirst): Gate {
  function tollhouseGate(req: Request, res: Response, next: NextFunction): void {
    if (!isExpress(where, req, next)) return;
    if (isPreflight(req)) return answerPreflight(req, res);
    try {
      const decision = admit(req, res);
      const passing = isPending(decision) ? decision.then((it) => carryOut(it, next)) : carryOut(decision, next);
      if (isPending(passing)) passing.catch((error: unknown) => answerFault(res, next, error));
    } catch (error) {
      answerFault(res, next, error);
    }
  }
  const gate = Object.assign(asMiddleware(tollhouseGate), { [ADMIT]: admit });
  return askFirst === undefined ? gate : Object.assign(gate, { [ASK_FIRST]: askFirst });
}

/** How a gate asks for a payment where another has refused; undefined for those that ask for none. */
export function askFirstOf(handler: unknown): AskFirst | undefined {
  const askFirst: unknown = Reflect.get(Object(handler), ASK_FIRST);
  return isAskFirst(askFirst) ? askFirst : undefined;
}

/** The decision function of a gate; undefined for other middleware. */
export function admitOf(handler: unknown): Admit | undefined {
  const admit: unknown = Reflect.get(Object(handler), ADMIT);
  return isAdmit(admit) ? admit : undefined;
}

/** Returns an outage or another fault that is ours to tell; a bug or a wrong option is left to Express. */
export function answerFault(res: Response, next: NextFunction, error: unknown): void {
  if (!(error instanceof TollhouseError) || error.code === 'bad_option' || res.headersSent) {
    return leaveToNext(res, next, error);
  }
  const undo = undos.of(res.req);
  if (undo === undefined) return sendError(res, error);
  // What cannot be undone is used up.
  undo()
    .catch(() => {})
    .then(() => sendError(res, error))
    .catch((thrown: unknown) => leaveToNext(res, next, thrown));
}

/** Express's own `next` does not throw. A function that an app calls a gate with may, and nobody is left then to hear of it. */
function leaveToNext(res: Response, next: NextFunction, error: unknown): void {
  try {
    next(asError(error));
  } catch (thrown) {
    sendFault(res, thrown);
  }
}

/** To Express nothing is no error, and some texts are ways past it: what a handler throws must not let anybody in. */
function asError(error: unknown): unknown {
  return typeof error === 'object' && error !== null ? error : new Error(errorText(error));
}

const undos = createRequestNote<Request, () => Promise<void>>();

/** Has something undone before a gate answers that it cannot decide: the request is sent again as it was. */
export function undoAtFault(req: Request, undo: () => Promise<void>): void {
  undos.put(req, undo);
}

function carryOut(decision: Decision, next: NextFunction): MaybePromise<void> {
  return decision.admitted ? decision.enter(next) : decision.answer();
}

function isAskFirst(value: unknown): value is AskFirst {
  return typeof value === 'function';
}

function isAdmit(value: unknown): value is Admit {
  return typeof value === 'function';
}
