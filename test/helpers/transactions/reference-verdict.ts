import { appendFileSync } from 'node:fs';
import type { PaymentPayload } from '@x402/core/types';
import { toCaip2 } from '../../../src/protocol/networks/networks.js';
import type { Terms } from '../../../src/protocol/types.js';
import { writeTerms } from '../../../src/protocol/wire/terms.js';
import type { TollFixture } from '../fixtures/toll-fixture.js';

/** What became of one hostile transaction; one line of JSON in the file that `ATTACKS_OUT` names. */
export interface Verdict {
  /** The test that sent it. */
  readonly attack: string;
  /** Why ours refused it. */
  readonly ours: string;
  /** Why the reference refused it; missing where it settled it. */
  readonly reference?: string;
  /** Lamports that its fee payer lost. */
  readonly lost: string;
  /** Whether the seller got the amount. */
  readonly sellerPaid: boolean;
}

const out = process.env['ATTACKS_OUT'] ?? '';

/** Whether what ours refused is shown to the reference as well (`npm run attacks`). */
export const comparing = out !== '';

const settled = new Set<string>();

/** Whether the reference has settled these very bytes: they land no second time, neither for us nor by themselves. */
export function isSettledByReference(transaction: Uint8Array): boolean {
  return settled.has(Buffer.from(transaction).toString('base64'));
}

/** Hands a transaction that ours refused to the reference facilitator with the same fee payer, and writes down what it did. */
export async function tryOnReference(
  fixture: TollFixture,
  bytes: Uint8Array,
  terms: Terms,
  ours: string,
): Promise<void> {
  const { sandbox } = fixture;
  const held = () => ({
    lamports: sandbox.balance(fixture.feePayer.publicKey.toBase58()),
    seller: sandbox.tokenBalance(terms.payTo, terms.asset),
  });
  const before = held();
  const reason = await refusal(fixture, bytes, terms);
  if (reason === undefined) settled.add(Buffer.from(bytes).toString('base64'));
  const after = held();
  // Its calls are not ours.
  sandbox.resetCalls();
  const verdict: Verdict = {
    attack: expect.getState().currentTestName ?? '',
    ours,
    ...(reason === undefined ? {} : { reference: reason }),
    lost: String(before.lamports - after.lamports),
    sellerPaid: after.seller - before.seller === terms.amount,
  };
  appendFileSync(out, `${JSON.stringify(verdict)}\n`);
}

/** Why the reference does not settle a transaction; undefined when it does. */
async function refusal(
  { feePayer, sandbox }: TollFixture,
  bytes: Uint8Array,
  terms: Terms,
): Promise<string | undefined> {
  // Loaded here, for the tests themselves have no use for it.
  const { referenceInProcess } = await import('../http/official-servers.js');
  const reference = await referenceInProcess(feePayer, sandbox.rpcUrl, toCaip2(terms.network));
  const accepted = writeTerms(terms);
  const payload: PaymentPayload = {
    x402Version: 2,
    accepted,
    payload: { transaction: Buffer.from(bytes).toString('base64') },
  };
  const verification = await reference.verify(payload, accepted);
  if (!verification.isValid) return verification.invalidReason ?? 'refused';
  const settlement = await reference.settle(payload, accepted);
  return settlement.success ? undefined : (settlement.errorReason ?? 'failed');
}
