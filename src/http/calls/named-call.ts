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
import type { PaymentGate } from '../../middleware/payment/payment-gate.js';
import { sendAgain, sendInProgress } from '../../middleware/payment/payment-responses.js';
import { CODECS } from '../../protocol/codecs/codecs.js';
import { SERVICE_PAYMENT_HEADER } from '../../protocol/wire/service-payment.js';
import type { IdempotencyStore } from '../../storage/idempotency/idempotency-store.js';
import { callRetry } from './call-request.js';

/**
 * A call that its caller has named, by an `Idempotency-Key` or by the payment that it brings. Where what was paid before serves it,
 * credit or a pass, its response can be had again under that name: the call is charged once. What a payment has paid itself is had
 * again by that, whatever its name. A call whose body is too long to be compared has no name.
 */
export interface NamedCall extends NamedRequest, Pick<IdempotentRequest, 'finish' | 'sealed' | 'ended'> {
  /** Where responses are kept. */
  readonly store: Pick<IdempotencyStore, 'rows' | 'find'>;
  /** Answers what is known under its name; false, and nothing is answered, where nothing is. */
  answerKnown(res: Response): Promise<boolean>;
}

const KEY_HEADER = 'Idempotency-Key';
/** What a call takes beside the time that its upstream has for the head; milliseconds. */
const BODY_MS = 60_000;

const noted = createRequestNote<Request, () => Promise<NamedCall | undefined>>();

/** Notes a call that may have a name, for {@link namedOf}; tells whether that is an `Idempotency-Key`. */
export function noteName(gate: PaymentGate, call: Call, req: Request): boolean {
  const key = keyOf(req);
  let named: Promise<NamedCall | undefined> | undefined;
  noted.put(req, () => {
    named ??= readName(gate, call, req);
    return named;
  });
  return key !== undefined;
}

/**
 * The call that a request is, by its name; undefined where it has none, its body is too long to be compared, or its client is gone.
 * Most calls are never asked.
 */
export function namedOf(req: Request): Promise<NamedCall | undefined> {
  return noted.of(req)?.() ?? Promise.resolve(undefined);
}

async function readName(gate: PaymentGate, call: Call, req: Request): Promise<NamedCall | undefined> {
  const key = keyOf(req);
  const name = key ?? paymentHeaderOf(req);
  // Two that are not compared to their end could be taken for one.
  const fingerprint = name && (await wholeFingerprint(req));
  if (name === undefined || fingerprint === undefined) return undefined;
  const isByKey = key !== undefined;
  const { secret } = callRetry(call, req);
  const { idempotency: store } = gate.options.facilitator;
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
  const { begin, abandon } = takingRun(run, gate.options.facilitator);
  return {
    ...{ store, finish: run.finish, sealed: run.sealed, ended: run.ended },
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

/** A run for which something is taken of a pass: that is given back with it, and what was lost with runs before it as it begins. */
function takingRun(run: IdempotentRequest, facilitator: PaymentGate['options']['facilitator']) {
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

  return {
    async begin(takes?: TakenAs): Promise<Known | undefined> {
      const begun = await run.begin(takes && [takes.passId, takes.requestId]);
      if (begun.status !== 'started') return begun;
      run.hold();
      [taken, ending] = [takes, undefined];
      try {
        for (const lost of pairsOf(begun.lost)) await giveBack(lost);
      } catch (error) {
        // Whoever takes it over then knows what was lost, and nobody forgets it here meanwhile.
        ending = run.release().then(() => undefined);
        await ending;
        throw error;
      }
      return undefined;
    },
    abandon(): Promise<void> {
      ending ??= undo();
      return ending;
    },
  };
}

/** @param words - names of a pass and of what a request took of it, in turns */
function pairsOf(words: readonly string[]): readonly TakenAs[] {
  return words.flatMap((passId, n) => (n % 2 === 0 ? [{ passId, requestId: words[n + 1] ?? '' }] : []));
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
