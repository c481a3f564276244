import type { Request, Response } from 'express';
import { type Call, callResource } from '../../gateway/calls/call.js';
import { createRequestNote } from '../../lib/http/request-note.js';
import { sendProblem } from '../../middleware/gate/respond.js';
import {
  createIdempotentRequest,
  type IdempotentRequest,
  type Known,
} from '../../middleware/idempotency/idempotent-request.js';
import { wholeFingerprint } from '../../middleware/idempotency/request-fingerprint.js';
import { giveBackToPass } from '../../middleware/passes/give-back.js';
import type { NamedRequest, TakenAs } from '../../middleware/passes/pass-types.js';
import { paidResponse } from '../../middleware/payment/paid-responses.js';
import type { PaymentGate } from '../../middleware/payment/payment-gate.js';
import { sendAgain, sendInProgress } from '../../middleware/payment/payment-responses.js';
import type { StoredResponse } from '../../middleware/response/response-seal.js';
import { CODECS } from '../../protocol/codecs/codecs.js';
import { SERVICE_PAYMENT_HEADER } from '../../protocol/wire/service-payment.js';
import type { IdempotencyStore } from '../../storage/idempotency/idempotency-store.js';
import { callRetry } from './call-request.js';

/**
 * A call that its caller has named, by an `Idempotency-Key` or by the payment that it brings: its response can be had again under that
 * name, and the call is charged once. What a payment has paid itself is had again by that as well, whatever its name. A call whose
 * body is too long to be compared has no name.
 */
export interface NamedCall extends NamedRequest, Pick<IdempotentRequest, 'finish' | 'release' | 'sealed' | 'ended'> {
  /** As of a {@link NamedRequest}; of a payment that pays it is noted which, and nothing is to be given back. */
  begin(takes?: TakenAs | PaidBy): ReturnType<NamedRequest['begin']>;
  /** Where responses are kept. */
  readonly store: Pick<IdempotencyStore, 'rows' | 'find'>;
  /** Answers what is known under its name; false, and nothing is answered, where nothing is. */
  answerKnown(res: Response): Promise<boolean>;
}

/** A payment that pays a call. */
interface PaidBy {
  readonly paymentId: string;
}

const KEY_HEADER = 'Idempotency-Key';
/** Stands before the id of a payment in what a run notes, as the name of a pass does before what is taken of that. */
const PAID_BY = 'payment';
/** What a call takes beside the time that its upstream has for the head; milliseconds. */
const BODY_MS = 60_000;

const names = createRequestNote<Request, () => Promise<NamedCall | undefined>>();

/** Notes a call that may have a name, for {@link namedOf}. */
export function noteName(gate: PaymentGate, call: Call, req: Request): void {
  let named: Promise<NamedCall | undefined> | undefined;
  names.put(req, () => {
    named ??= readName(gate, call, req);
    return named;
  });
}

/** The call that a request is by its `Idempotency-Key`, as {@link namedOf} has it; undefined where it has none. */
export async function namedByKey(req: Request): Promise<NamedCall | undefined> {
  return keyOf(req) === undefined ? undefined : namedOf(req);
}

/**
 * The call that a request is, by its name; undefined where it has none, its body is too long to be compared, or its client is gone.
 * Most calls are never asked.
 */
export function namedOf(req: Request): Promise<NamedCall | undefined> {
  return names.of(req)?.() ?? Promise.resolve(undefined);
}

async function readName(gate: PaymentGate, call: Call, req: Request): Promise<NamedCall | undefined> {
  const key = keyOf(req);
  const name = key ?? paymentHeaderOf(req);
  // Two that are not compared to their end could be taken for one.
  const fingerprint = name && (await wholeFingerprint(req));
  if (name === undefined || fingerprint === undefined) return undefined;
  const isByKey = key !== undefined;
  const { secret } = callRetry(call, req);
  const { facilitator } = gate.options;
  const store = facilitator.idempotency;
  const run = createIdempotentRequest({
    store,
    scope: `call ${callResource(call)}`,
    // A payment may be brought for other calls as well.
    secret: isByKey ? `${secret} key ${key}` : `${secret} payment ${name} ${fingerprint}`,
    fingerprint,
    leaseMs: call.project.upstream.timeoutMs + BODY_MS,
    owner: call.key.owner,
  });
  const answerAs = async (known: Known, res: Response): Promise<void> => {
    if (known.status === 'replay') return sendAgain({ req, res, gate }, known.response, {});
    if (!isByKey) return sendInProgress({ req, res, gate });
    answerOther(known.status, res);
  };
  const paidBy = async ({ paymentId }: PaidBy) => {
    const landed = await facilitator.landed(paymentId);
    // Given back, it may have paid another call since.
    return landed?.fingerprint === fingerprint ? paidResponse(facilitator, paymentId, { secret }).find() : undefined;
  };
  const { begin, abandon } = takingRun(run, facilitator, paidBy);
  return {
    ...{ store, finish: run.finish, release: run.release, sealed: run.sealed, ended: run.ended },
    letGo: async () => (await run.abandon()) || run.isHeld(),
    async answerKnown(res) {
      const known = await run.find();
      if (known === undefined) return false;
      // What a pass gave for it is there again before this call asks for it.
      const other = known.status === 'ended' ? await begin() : known;
      if (other === undefined) await run.abandon();
      else await answerAs(other, res);
      return other !== undefined;
    },
    async begin(takes) {
      const known = await begin(takes);
      return known && ((res) => answerAs(known, res));
    },
    abandon,
  };
}

/**
 * A run for which something is taken of a pass, or which a payment pays. What is taken is given back with it, and as it begins what was
 * lost with runs before it; where one of these was paid, and its response kept for the payment alone, that is its response.
 * @param paidBy - finds what is kept for a payment
 */
function takingRun(
  run: IdempotentRequest,
  facilitator: PaymentGate['options']['facilitator'],
  paidBy: (by: PaidBy) => Promise<StoredResponse | undefined>,
) {
  // Its debit may be on its way still, from a process or a connection that was given up.
  const giveBack = ({ passId, requestId }: TakenAs) => facilitator.passes.giveBack(passId, requestId, true);
  let taken: TakenAs | undefined;
  let ending: Promise<void> | undefined;

  async function undo(): Promise<void> {
    const takes = taken;
    if (takes === undefined) return void (await run.abandon());
    // Should it never be given back from here, whoever begins the call anew does that once its lease is over.
    run.ended();
    await giveBackToPass(facilitator, `the pass ${takes.passId}`, async () => {
      await giveBack(takes);
      await run.abandon();
    });
  }

  /** Gives back what was lost, and answers a response that was not. */
  async function settle(lost: readonly (TakenAs | PaidBy)[]): Promise<StoredResponse | undefined> {
    let found: StoredResponse | undefined;
    for (const it of lost) {
      if ('passId' in it) await giveBack(it);
      else found ??= await paidBy(it);
    }
    return found;
  }

  return {
    async begin(takes?: TakenAs | PaidBy): Promise<Known | undefined> {
      const begun = await run.begin(takes && notesOf(takes));
      if (begun.status !== 'started') return begun;
      run.hold();
      [taken, ending] = [takes && 'passId' in takes ? takes : undefined, undefined];
      try {
        const response = await settle(noted(begun.lost));
        if (response === undefined) return undefined;
        await run.finish(response);
        return { status: 'replay', response };
      } catch (error) {
        // Whoever takes it over then knows what was lost, and nobody forgets it here meanwhile.
        ending = run.release().then(() => undefined);
        await ending;
        throw error;
      }
    },
    abandon(): Promise<void> {
      ending ??= undo();
      return ending;
    },
  };
}

function notesOf(takes: TakenAs | PaidBy): readonly [string, string] {
  return 'passId' in takes ? [takes.passId, takes.requestId] : [PAID_BY, takes.paymentId];
}

/** @param words - what {@link notesOf} has made, one after the other */
function noted(words: readonly string[]): readonly (TakenAs | PaidBy)[] {
  return words.flatMap((what, n) => {
    if (n % 2 === 1) return [];
    const id = words[n + 1] ?? '';
    return [what === PAID_BY ? { paymentId: id } : { passId: what, requestId: id }];
  });
}

/** An empty header names nothing. */
function keyOf(req: Request): string | undefined {
  return req.get(KEY_HEADER)?.trim() || undefined;
}

function paymentHeaderOf(req: Request): string | undefined {
  const names = [SERVICE_PAYMENT_HEADER, ...CODECS.map(({ requestHeader }) => requestHeader)];
  return names.map((it) => req.get(it)).find(Boolean);
}

function answerOther(status: 'mismatch' | 'running', res: Response): void {
  if (status === 'mismatch') {
    const detail = `Another call was made under this ${KEY_HEADER}; take a new key for a new call. Nothing was charged.`;
    return sendProblem(res, 'idempotency_key_reused', detail, { param: KEY_HEADER });
  }
  const detail = `The call with this ${KEY_HEADER} is running; send it again in a moment to get its response.`;
  sendProblem(res, 'idempotency_in_progress', detail, { retryAfterSeconds: 1 });
}
