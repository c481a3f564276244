import { asked } from '../../facilitator/backend/chain-landing.js';
import { PUBLIC_RPC } from '../../facilitator/facilitator-options.js';
import { createPastPayouts } from '../../facilitator/payouts/past-payouts.js';
import { findPayoutFate, isPastLanding, MAX_PAGES } from '../../facilitator/payouts/payout-fate.js';
import {
  type FailedForCertain,
  type Resolution,
  type ResolvingParts,
  resolvePayout,
} from '../../gateway/payouts/resolve-payout.js';
import { didYouMean } from '../../lib/did-you-mean.js';
import type { ChainConfiguration } from '../../server/configuration/chain-configuration.js';
import { readMint, readTokenBalances } from '../../solana/accounts/token-accounts.js';
import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import { createSolanaRpc } from '../../solana/rpc/rpc-client.js';
import type { PayoutRecord, PayoutStore } from '../../storage/payouts/payout-store.js';
import { CommandError, UsageError } from '../command.js';
import { counted } from '../output/counted.js';
import { printStep } from '../output/terminal.js';
import { resolveUnknown } from './resolve-unknown.js';

/**
 * Resolves every payout that was sent and is not over, on the configured network, and books those that split wallets have
 * made and the books do not know.
 * @param wallets - the split wallets, base58
 * @returns the exit code: 0 when nothing is open any more
 */
export async function resolveUnfinished(
  book: PayoutStore,
  chain: ChainConfiguration,
  wallets: readonly string[],
): Promise<number> {
  return withChain(book, chain, async (parts, rpc) => {
    let left = 0;
    for (const wallet of wallets) {
      left += await resolveUnknown(book, chain.network, createPastPayouts(rpc, wallet), wallet);
    }
    const open = (await book.unfinished()).filter(({ network }) => network === chain.network);
    if (open.length === 0) printStep('payouts', 'all are over');
    for (const payout of open) left += told(await resolvePayout(parts, payout)) ? 0 : 1;
    return left === 0 ? 0 : 1;
  });
}

/**
 * Resolves one payout.
 * @param isCertain - the operator says that it has failed
 * @throws UsageError when there is none with this id, CommandError when it cannot be called failed
 */
export async function resolveOne(
  book: PayoutStore,
  chain: ChainConfiguration,
  id: string,
  isCertain: boolean,
): Promise<number> {
  const payout = await find(book, id, chain);
  if (payout.state === 'paid' || payout.state === 'failed') {
    if (isCertain) throw new CommandError(`${id} is over already: ${stateOf(payout)}`);
    printStep(payout.state, `${id}: it was over already`);
    return 0;
  }
  if (isCertain) {
    printStep(
      'WARNING',
      `${id} is to be failed on your word: if it has landed after all, its recipients are paid twice`,
    );
  }
  return withChain(book, chain, async (parts) => {
    const certain = isCertain ? parts : undefined;
    return told(await resolvePayout(parts, payout, certain)) ? 0 : 1;
  });
}

async function find(book: PayoutStore, id: string, { network }: ChainConfiguration): Promise<PayoutRecord> {
  const payout = await book.find(id);
  if (payout === undefined) {
    const meant = didYouMean(
      id,
      (await book.unfinished()).map((it) => it.id),
    );
    const hint =
      meant === undefined ? '"npx tollhouse payouts" lists those that are not over' : `did you mean "${meant}"?`;
    throw new UsageError(`there is no payout "${id}"; ${hint}`);
  }
  if (payout.network === network) return payout;
  throw new UsageError(`${id} is on ${payout.network}, and SOLANA_NETWORK is ${network}`);
}

async function withChain(
  book: PayoutStore,
  { network, rpcUrl = [PUBLIC_RPC[network]] }: ChainConfiguration,
  work: (parts: ResolvingParts & FailedForCertain, rpc: SolanaRpc) => Promise<number>,
): Promise<number> {
  const rpc = createSolanaRpc({ urls: rpcUrl });
  printStep('chain', `${network}, ${counted(rpcUrl.length, 'RPC endpoint')}`);
  try {
    return await work(
      {
        book,
        now: Date.now,
        sender: { balance: (wallet, mint) => balanceOf(rpc, wallet, mint) },
        fate: (signed) => findPayoutFate(rpc, signed, { marks: new Map(), pagesAtOnce: MAX_PAGES }),
        isPastLanding: (signed) => isPastLanding(rpc, signed),
      },
      rpc,
    );
  } finally {
    await rpc.close();
  }
}

async function balanceOf(rpc: SolanaRpc, wallet: string, mint: string): Promise<bigint> {
  const facts = await asked(readMint(mint, rpc));
  if (facts === undefined) return 0n;
  const [held = 0n] = await asked(readTokenBalances([wallet], mint, facts.program, rpc));
  return held;
}

/** Says what came of a payout; false where it is still open. */
function told({ status, payout }: Resolution): boolean {
  const { id } = payout;
  if (status === 'resolved') {
    const isOwed = payout.state === 'failed' ? ', and what it was to pay is owed again' : '';
    printStep(payout.state, `${id}: ${stateOf(payout)}${isOwed}`);
    return true;
  }
  printStep('open', `${id}: ${OPEN[status]}`);
  return false;
}

const OPEN: Readonly<Record<Exclude<Resolution['status'], 'resolved'>, string>> = {
  open: 'no node proves what became of it; add one with a longer history to SOLANA_RPC_URL, or wait until it is final',
  unsent: 'nothing of it was sent; the server goes on with it',
  busy: 'a running server is at work on it; try again in two minutes',
  may_land: 'it can still land, and is not called failed before it cannot; try again in two minutes',
};

function stateOf({ state, slot, signed, reason }: PayoutRecord): string {
  if (state === 'paid') return `landed in slot ${slot ?? 'unknown'}, ${signed?.signature ?? ''}`;
  return `${state}, ${reason ?? 'no reason is noted'}`;
}
