import { boundedCache } from '../../lib/bounded-cache.js';
import type { MaybePromise } from '../../lib/maybe-promise.js';
import { loadLater } from '../../lib/work/load-later.js';
import type { Reason } from '../../protocol/reasons.js';
import type { SolanaRpc } from '../rpc/rpc.js';
import { PROGRAMS } from '../transaction/programs.js';
import type { MintTraits } from './mint-traits.js';

/** What decides whether a token may be taken. */
export interface MintPolicyOptions {
  readonly rpc: SolanaRpc;
  /** Mints that are taken whatever their extensions, as long as the full amount arrives. */
  readonly allowedMints: ReadonlySet<string>;
  /** Mints whose issuer is trusted with its powers (permanent delegate, confidential transfers), as long as the full amount arrives. */
  readonly trustedMints: ReadonlySet<string>;
}

/** Returns why a token is not taken, or undefined. */
export type MintPolicy = (mint: string, tokenProgram: string) => MaybePromise<Reason | undefined>;

const CACHE_MS = 300_000;
const CACHED_MINTS = 5_000;
/** Of a longer mint an extension might stand behind what was read. */
const MAX_MINT_BYTES = 65_536;

/**
 * The rule for Token-2022 mints: the seller must get the amount. A mint that keeps a fee of its transfers is never taken, whoever
 * allows it: prices and shares are what arrives, and a payer transfers exactly the price. Mints of the classic token program have
 * no extensions and cost no call; the others are read once in five minutes.
 */
export function createMintPolicy({ rpc, allowedMints, trustedMints }: MintPolicyOptions): MintPolicy {
  const traits = boundedCache<string, MintTraits | 'unknown'>({
    max: CACHED_MINTS,
    ttl: CACHE_MS,
    fetchMethod: (mint) => readTraits(mint, rpc),
  });
  async function judge(mint: string): Promise<Reason | undefined> {
    const found = (await traits.fetch(mint)) ?? 'unknown';
    if (found === 'unknown') return 'invalid_exact_svm_mint_unknown';
    if (found.keepsFee) return 'invalid_exact_svm_mint_transfer_fee';
    if (allowedMints.has(mint)) return undefined;
    const refused = found.callsHook || (found.issuerPowers && !trustedMints.has(mint));
    return refused ? 'invalid_exact_svm_mint_not_accepted' : undefined;
  }
  return (mint, tokenProgram) => (tokenProgram === PROGRAMS.token ? undefined : judge(mint));
}

/** It brings the whole of @solana/spl-token. */
const mintReader = loadLater(() => import('./mint-traits.js'));

async function readTraits(address: string, rpc: SolanaRpc): Promise<MintTraits | 'unknown'> {
  const [account] = await rpc.getAccounts([address], 'confirmed', MAX_MINT_BYTES);
  if (!account || account.owner !== PROGRAMS.token2022 || account.data.length === MAX_MINT_BYTES) return 'unknown';
  const { readMintTraits } = await mintReader();
  try {
    return readMintTraits(address, account);
  } catch {
    return 'unknown';
  }
}
