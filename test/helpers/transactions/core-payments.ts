import type { Facilitator } from '../../../src/facilitator/types.js';
import type { Payment, Terms } from '../../../src/protocol/types.js';
import { writeTerms } from '../../../src/protocol/wire/terms.js';
import { signTerms, type Wallet } from './payments.js';

/** What a purchase costs in tests: one cent of USDC. */
export const ONE_CENT = 10_000n;

/** Terms as a gate in front of this facilitator offers them. */
export async function offeredTerms(
  facilitator: Facilitator,
  payTo: string,
  change: Partial<Terms> = {},
): Promise<Terms> {
  const [kind] = (await facilitator.supported()).kinds;
  const [usdc] = facilitator.tokens;
  if (kind === undefined || usdc === undefined) throw new Error('the facilitator offers nothing');
  const { scheme, network, feePayer } = kind;
  return { scheme, network, feePayer, asset: usdc.mint, amount: ONE_CENT, payTo, maxTimeoutSeconds: 60, ...change };
}

/** A payment of these terms, signed with a fresh blockhash. */
export async function payTerms(wallet: Wallet, terms: Terms): Promise<Payment> {
  const { transaction } = await signTerms(wallet, writeTerms(terms));
  return { scheme: terms.scheme, network: terms.network, transaction, accepted: terms };
}
