import type { Request, Response } from 'express';
import { badOption, TollhouseError } from '../../errors/errors.js';
import { mistakeIn } from '../../lib/options.js';
import { type Admit, admitOf, askFirstOf, createGate, type Decision, type Gate, type Refused } from './gate.js';
import { tellingMustHold } from './must-hold-notes.js';
import { signInsOf, withSignIns } from './sign-ins-wanted.js';

const WHERE = 'anyOf';

/**
 * Express middleware that lets in whom one of several gates lets in: `anyOf(requireTier({ … }), requirePayment({ … }))`
 * opens to holders and asks the rest to pay. The gates are asked in their order and the first that admits serves, so a
 * payment is not taken from a holder when the payment gate comes last. Refusals become one response: the 402 where a payment
 * would open, with the challenge to sign in as one of its extensions; else that of the last gate. Of several payment gates the
 * last asks for a payment; what is wrong with one, or with a pass, is told by the gate that it was meant for. Who shows a
 * service key that is refused, or an access token or a sign-in that is no good, is told so with 401 and not asked to pay
 * instead, since many clients would, unasked. When a gate cannot decide because the chain or a store is out of reach, the
 * others still may; if none admits, the response is 503, so that nobody is asked to pay for what a holder has, or again for
 * what he has paid there.
 * @param gates - made by `requireTier`, `requireTokenBalance`, `serviceKeyAuth`, `requirePayment` or `anyOf`
 * @throws TollhouseError `bad_option` when something else is given
 */
export function anyOf(...gates: readonly Gate[]): Gate {
  if (gates.length === 0) throw badOption(WHERE, 'give at least one gate');
  const admits = gates.map(readGate);
  const askFirst = gates.map(askFirstOf).findLast((it) => it !== undefined);
  async function admit(req: Request, res: Response): Promise<Decision> {
    const refusals: Refused[] = [];
    let outage: TollhouseError | undefined;
    for (const admit of admits) {
      try {
        const decision = await admit(req, res);
        if (decision.admitted) return decision;
        refusals.push(decision);
      } catch (error) {
        if (!(error instanceof TollhouseError) || error.status !== 503) throw error;
        outage = error;
      }
    }
    const mustHold = refusals.flatMap((it) => it.mustHold ?? []);
    return tellingMustHold(req, answerOf(refusals, outage), mustHold);
  }
  return withSignIns(createGate(WHERE, admit, askFirst), gates.flatMap(signInsOf));
}

/** What is answered: first of all to somebody who has tried to pay, by the gate that he has tried to pay at. */
function answerOf(refusals: readonly Refused[], outage: TollhouseError | undefined): Refused {
  const byPayment = refusals.filter(({ wants }) => wants === 'payment');
  const tried = byPayment.filter(({ presented }) => presented);
  const meant = tried.findLast(({ isForOther }) => !isForOther);
  if (meant !== undefined) return meant;
  // What was brought may be for the gate that is out of reach.
  if (outage !== undefined) throw outage;
  const meantForNone = tried.at(-1);
  if (meantForNone !== undefined) return meantForNone;
  const wrongKey = refusals.find(({ wants, presented }) => wants === 'key' && presented);
  if (wrongKey !== undefined) return wrongKey;
  const noProof = faultyProof(refusals);
  if (noProof !== undefined) return noProof;
  const refused = byPayment.at(-1) ?? refusals.at(-1);
  if (refused === undefined) throw new Error('no gate has decided');
  return refused;
}

/** Nobody is told of a proof that is no good who has another that is, and merely holds too little. */
function faultyProof(refusals: readonly Refused[]): Refused | undefined {
  const presented = refusals.filter(({ wants, presented }) => wants === 'wallet' && presented);
  return presented.every(({ isFaulty }) => isFaulty) ? presented.at(-1) : undefined;
}

function readGate(gate: Gate, index: number): Admit {
  const admit = admitOf(gate);
  if (admit !== undefined) return admit;
  const mistake = mistakeIn(WHERE, gate);
  if (mistake !== undefined) throw badOption(WHERE, mistake);
  if (Array.isArray(gate)) throw badOption(WHERE, 'give the gates one by one and not as a list: anyOf(one, other)');
  const detail = `argument ${index + 1} is not a gate; give what requireTier, requireTokenBalance, serviceKeyAuth, requirePayment or anyOf answer`;
  throw badOption(WHERE, detail);
}
