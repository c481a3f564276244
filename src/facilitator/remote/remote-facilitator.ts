import { TollhouseError } from '../../errors/errors.js';
import { resolveOptions } from '../../lib/options.js';
import { loadLater } from '../../lib/work/load-later.js';
import { KNOWN_TOKENS } from '../../protocol/networks/tokens.js';
import { createSolanaRpc } from '../../solana/rpc/rpc-client.js';
import { createMemoryIdempotencyStore } from '../../storage/idempotency/memory-idempotency-store.js';
import { assembleFacilitator, booksOrMemory } from '../assemble-facilitator.js';
import { refuseSuspended } from '../backend/refuse-suspended.js';
import { createRefusedSends } from '../backend/refused-sends.js';
import { createPaymentEventBus } from '../events/events.js';
import type { HoldingsReader } from '../holdings/holding.js';
import { createLeases } from '../payments/leases.js';
import { createPaymentsInFlight } from '../payments/payments-in-flight.js';
import { tooLateSince } from '../payments/retry-hash.js';
import type { Facilitator } from '../types.js';
import { createRemote } from './remote.js';
import { createRemoteBackend, remoteHealth } from './remote-backend.js';
import { createRemoteChain } from './remote-chain.js';
import { type RemoteFacilitatorOptions, remoteFacilitatorOptions, WHO_REFUNDS } from './remote-options.js';

const WHERE = 'remoteFacilitator';

/**
 * Uses another facilitator over HTTP (protocol/README.md, "Facilitator API") where an embedded one would be used: it verifies, settles and pays the
 * network fees; payments are claimed and remembered here. How far a transaction must have come is the other's decision, a
 * route's `commitment` does not reach it. Nothing is awaited; it connects when it must. Close it when you are done.
 *
 * While the facilitator cannot be reached, its last `/supported` keeps 402s going and payments are answered
 * `payment_backend_unavailable`. A settlement whose response is lost is pending: the same payment asks again, and with
 * `rpcUrl` the chain says what became of it. Without, the facilitator's word is all there is. Where it says that it has settled
 * the transaction before, and under which signature, the payment counts as settled: it found the payment good just before it
 * was asked to settle it from here. Where it only refuses, the payment is refused for good three minutes after it was
 * first brought, though it may have been paid; a warning names it (`TOLLHOUSE_REMOTE_OUTCOME`).
 * A refusal that has payers sign again, as the transaction be too late, is checked with the chain first, which may know it as landed;
 * without `rpcUrl` it says what the payer has to look for.
 *
 * @throws TollhouseError `bad_option` when an option is wrong, with what was probably meant
 */
export function remoteFacilitator(options: RemoteFacilitatorOptions): Facilitator {
  const resolved = resolveOptions(WHERE, remoteFacilitatorOptions, options);
  const { network, rpcUrl, timeoutMs, settleTimeoutMs, headers = {}, storage, now } = resolved;
  const { tokens = KNOWN_TOKENS[network], idempotency = storage?.idempotency ?? createMemoryIdempotencyStore() } =
    resolved;
  const urls = typeof resolved.url === 'string' ? [resolved.url] : resolved.url;
  const remotes = urls.map((url) => createRemote({ url, headers, network, timeoutMs }));
  const rpc = rpcUrl === undefined ? undefined : createSolanaRpc({ urls: rpcUrl, timeoutMs });
  const chain = rpc === undefined ? {} : { chain: createRemoteChain(rpc) };
  const books = booksOrMemory(WHERE, resolved);
  return assembleFacilitator({
    network,
    tokens,
    ...books,
    leases: createLeases(books.ledger),
    inFlight: createPaymentsInFlight(resolved),
    storage,
    idempotency,
    refusedSends: createRefusedSends(idempotency, tooLateSince(now)),
    events: createPaymentEventBus(),
    now,
    backend: refuseSuspended(
      createRemoteBackend({ network, remotes, timeoutMs, settleTimeoutMs, now, ...chain }),
      storage,
    ),
    holdings: NO_HOLDINGS,
    refunds: { refund: noRefund },
    health: () => remoteHealth(remotes),
    watched: resolved.check,
    async checkSetup(needs) {
      const { checkRemoteSetup } = await setupChecks();
      return checkRemoteSetup({ network, tokens, remotes, rpc, timeoutMs }, needs);
    },
  });
}

const setupChecks = loadLater(() => import('./remote-setup.js'));

/** The HTTP API of a facilitator tells nothing about wallets. */
const NO_HOLDINGS: HoldingsReader = { readMint: noChain, readHolding: noChain, readCollection: noChain };

async function noChain(): Promise<never> {
  const detail = `${WHERE} does not read the chain; give gates by token balance or tier a facilitator made by createFacilitator.`;
  throw new TollhouseError('not_configured', detail);
}

async function noRefund(): Promise<never> {
  const detail = `${WHERE} pays nothing: ${WHO_REFUNDS}, or use npx tollhouse refund there.`;
  throw new TollhouseError('not_configured', detail);
}
