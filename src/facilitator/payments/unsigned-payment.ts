import { randomBytes } from 'node:crypto';
import { TollhouseError } from '../../errors/errors.js';
import type { Token } from '../../protocol/types.js';
import { transferBuilder } from '../../solana/building/transfer-builder.js';
import type { SettlementBackend } from '../backend/backend.js';
import type { HoldingsReader, MintFacts } from '../holdings/holding.js';
import type { Facilitator } from '../types.js';

/** What payments for wallets to sign are made with. */
export interface UnsignedPaymentParts {
  readonly backend: Pick<SettlementBackend, 'blockhash'>;
  readonly holdings: Pick<HoldingsReader, 'readMint'>;
  readonly tokens: readonly Token[];
}

const NONCE_BYTES = 16;
const NO_CHAIN = 'This server does not read the chain, and prepares no payments; pay with a client that does.';

/** Makes payments for wallets to sign. A known token costs no look at the chain, and a recent blockhash is shared by all. */
export function createUnsignedPayments({
  backend,
  holdings,
  tokens,
}: UnsignedPaymentParts): Facilitator['unsignedPayment'] {
  async function factsOf(asset: string): Promise<Pick<MintFacts, 'decimals' | 'program'>> {
    const facts = tokens.find(({ mint }) => mint === asset) ?? (await holdings.readMint(asset));
    if (facts === undefined) throw new TollhouseError('invalid_token', `${asset} is no mint.`);
    return facts;
  }

  return async ({ asset, amount, payTo, feePayer, memo }, payer) => {
    if (backend.blockhash === undefined) throw new TollhouseError('not_configured', NO_CHAIN);
    const [{ decimals, program }, blockhash] = await Promise.all([factsOf(asset), backend.blockhash()]);
    const { transferInstructions, unsignedTransaction } = await transferBuilder();
    const plan = {
      ...{ asset, tokenProgram: program, decimals, legs: [{ recipient: payTo, amount }], reference: undefined },
      // Equal payments are kept apart by it, as the official client does.
      memo: memo ?? randomBytes(NONCE_BYTES).toString('hex'),
      accountsToCreate: new Set<string>(),
    };
    const bytes = unsignedTransaction(transferInstructions(plan, payer), feePayer ?? payer, blockhash);
    if (bytes === undefined)
      throw new TollhouseError('invalid_payer', 'The payment does not fit into one transaction.');
    return bytes;
  };
}
