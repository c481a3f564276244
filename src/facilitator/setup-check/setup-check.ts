import { withTimeout } from '../../lib/work/with-timeout.js';
import type { NetworkId } from '../../protocol/types.js';
import { LEAST_LAMPORTS } from '../../solana/accounts/least-lamports.js';
import { RpcError, type SolanaRpc } from '../../solana/rpc/rpc.js';
import type { Counters } from '../../storage/counters/counters.js';
import type { IdempotencyStore } from '../../storage/idempotency/idempotency-store.js';
import type { Storage, StoreState } from '../../storage/storage.js';
import {
  feePayerFault,
  LAMPORTS_PER_SETTLEMENT,
  NOBODY,
  STORE_REASONS,
  settlementsLeft,
  storeFaults,
} from '../setup/health.js';
import { type SetupFinding, setupError, setupWarning } from '../setup/setup-finding.js';
import type { PaymentNeed } from '../setup/setup-target.js';
import { localNode } from './local-node.js';
import { type BooksParts, checkOtherBooks } from './other-books.js';
import { checkEndpoints, checkSocket } from './setup-endpoints.js';
import { checkRecipients, type RecipientParts } from './setup-recipients.js';

/** What an embedded facilitator is checked with. */
export interface SetupParts extends RecipientParts {
  readonly network: NetworkId;
  readonly rpc: SolanaRpc;
  readonly wsUrl?: string | undefined;
  /** Addresses, at least one; the first is offered. */
  readonly feePayers: readonly string[];
  readonly ledger: BooksParts['ledger'];
  readonly idempotency: Pick<IdempotencyStore, 'find'>;
  readonly counters?: Pick<Counters, 'get'> | undefined;
  /** Looks whether the store takes writes. Default: nobody does. */
  readonly probe?: Storage['probe'] | undefined;
}

const STORE_PATIENCE_MS = 2_000;
const LAMPORTS_PER_SOL = 1_000_000_000n;

/** Checks a facilitator and what it is to be paid for. What it finds it answers; it rejects for bugs only. */
export async function checkSetup(
  parts: SetupParts,
  needs: readonly PaymentNeed[],
  signal?: AbortSignal,
): Promise<readonly SetupFinding[]> {
  const [feePayer = ''] = parts.feePayers;
  const [endpoints, socket, stores] = await Promise.all([
    checkEndpoints({ ...parts, feePayer }),
    checkSocket(parts.wsUrl, signal),
    checkStores(parts),
  ]);
  const onChain = endpoints.usable ? await checkOnChain(parts, needs) : [];
  return [...endpoints.findings, ...socket, ...stores, ...ownRecipients(parts, needs), ...onChain];
}

/** An endpoint that answered a moment ago and is silent now. */
async function checkOnChain(parts: SetupParts, needs: readonly PaymentNeed[]): Promise<readonly SetupFinding[]> {
  try {
    const found = await Promise.all([
      checkFeePayers(parts),
      checkRecipients(parts, needs),
      checkOtherBooks(parts, needs),
    ]);
    return found.flat();
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const detail = `the Solana RPC cannot be asked: ${error.message}`;
    return [setupError({ code: 'rpc_unreachable', about: 'rpc', detail, fix: 'ask again in a moment' })];
  }
}

async function checkFeePayers({ rpc, network, feePayers }: SetupParts): Promise<readonly SetupFinding[]> {
  const accounts = await rpc.getAccounts(feePayers, 'confirmed');
  const local = localNode(rpc);
  return feePayers.flatMap((wallet, index) => {
    const lamports = accounts[index]?.lamports ?? 0n;
    const code = feePayerFault(lamports);
    if (code === undefined) return [];
    const detail =
      code === 'fee_payer_empty'
        ? `the fee payer ${wallet} holds ${lamports} lamports and cannot pay for one payment: no fee may leave less than ${LEAST_LAMPORTS}`
        : `the fee payer ${wallet} is nearly empty: it pays for ${settlementsLeft(lamports)} payments more`;
    const finding = { code, about: wallet, detail, fix: howToFund(wallet, network, local) };
    // Those behind the first only finish what was offered with them.
    return [code === 'fee_payer_empty' && index === 0 ? setupError(finding) : setupWarning(finding)];
  });
}

function howToFund(wallet: string, network: NetworkId, local: string | undefined): string {
  if (network === 'solana') {
    const payments = (LAMPORTS_PER_SOL / 10n / LAMPORTS_PER_SETTLEMENT).toLocaleString('en');
    return `send SOL to ${wallet}: 0.1 SOL pays for ${payments} payments`;
  }
  return `solana airdrop 1 ${wallet} --url ${local ?? network.slice('solana-'.length)}`;
}

async function checkStores({ ledger, idempotency, counters, probe }: SetupParts): Promise<readonly SetupFinding[]> {
  const [found, kept, counted, probed] = await Promise.all([
    withTimeout(STORE_PATIENCE_MS, () => ledger.find(NOBODY)),
    withTimeout(STORE_PATIENCE_MS, () => idempotency.find(NOBODY, NOBODY)),
    withTimeout(STORE_PATIENCE_MS, async () => counters?.get(`health:${NOBODY}`)),
    withTimeout(STORE_PATIENCE_MS, async () => probe?.()),
  ]);
  const fix = 'see that the database of openStorage (DATABASE_URL) can be reached: npx tollhouse db status';
  return [
    ...(found === undefined
      ? [
          setupError({
            code: 'store_unreachable',
            about: 'ledger',
            detail: 'the store of payments does not answer',
            fix,
          }),
        ]
      : storeFindings(probed?.value)),
    ...(kept === undefined
      ? [
          setupError({
            code: 'answers_unreachable',
            about: 'answers',
            detail: 'the store of answers does not answer',
            fix,
          }),
        ]
      : []),
    ...(counted === undefined
      ? [
          setupWarning({
            code: 'counters_unreachable',
            about: 'counters',
            detail: 'the store of counters does not answer, so that each instance bounds network fees for itself',
            fix: 'see that the database, or Redis (REDIS_URL), can be reached',
          }),
        ]
      : []),
  ];
}

const ROOM = 'make room on its disk, or have it writable: payments go on by themselves then';
const STORE_FIXES = [
  ['store_moved', 'put it back; where it is lost, stop the process, restore a backup and start again'],
  ['store_unwritable', ROOM],
  ['store_full', ROOM],
] as const;

function storeFindings(state: StoreState | undefined): readonly SetupFinding[] {
  const faults = state === undefined ? [] : storeFaults(true, state);
  return STORE_FIXES.flatMap(([code, fix]) =>
    faults.includes(code) ? setupError({ code, about: 'ledger', detail: STORE_REASONS[code], fix }) : [],
  );
}

/** The key that pays fees lies on the server: what is earned has no business there. */
function ownRecipients({ feePayers }: SetupParts, needs: readonly PaymentNeed[]): readonly SetupFinding[] {
  const own = feePayers.filter((wallet) => needs.some(({ payTo }) => payTo === wallet));
  return own.map((wallet) =>
    setupWarning({
      code: 'recipient_is_fee_payer',
      about: wallet,
      detail: `payTo ${wallet} is the key that pays network fees: whoever takes that key from the server takes what was earned`,
      fix: 'set payTo to a wallet whose key is not on this server',
    }),
  );
}
