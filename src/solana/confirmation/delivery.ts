import { inSpan } from '../../telemetry/trace.js';
import { RpcError, type SolanaRpc } from '../rpc/rpc.js';
import { readSendFailure } from '../rpc/send-failure.js';
import type { Delivery, Landing, TransactionDelivery } from './confirmation.js';
import { ConfirmationLoop } from './confirmation-loop.js';
import type { DeliveryTiming, PendingConfirmation } from './pending-confirmation.js';
import { SignatureSubscriptions } from './signature-subscriptions.js';

/** Settings of {@link createTransactionDelivery}. */
export interface DeliveryOptions {
  readonly rpc: Pick<SolanaRpc, 'sendTransaction' | 'getSignatureStatuses' | 'getTip'>;
  /** `ws:` or `wss:` addresses of the cluster, in order of preference. Without one, statuses are polled. */
  readonly wsUrl?: string | readonly string[];
  /** Whether blockhashes are known to live as long as Solana's, so that no node is believed that says more. Default false. */
  readonly isLifeCertain?: boolean;
  /** Other intervals than the defaults. */
  readonly timing?: Partial<DeliveryTiming>;
  /** Clock in milliseconds, never going back. Default `performance.now`. */
  readonly now?: () => number;
}

const TIMING: DeliveryTiming = { pollMs: 400, latePollMs: 2_500, heightMs: 2_000, rebroadcastMs: 2_000 };

/**
 * Sends transactions and learns what became of them: by push (WebSocket) first, and behind it one loop for all of them
 * that looks up statuses in batches, notices dead blockhashes, and sends again what the cluster has not seen.
 * Connects with the first delivery.
 *
 * @throws {TollhouseError} `bad_option` when `wsUrl` is not an absolute ws(s) URL
 */
export function createTransactionDelivery(options: DeliveryOptions): TransactionDelivery {
  const { rpc, now = () => performance.now() } = options;
  const timing = { ...TIMING, ...options.timing };
  const urls = typeof options.wsUrl === 'string' ? [options.wsUrl] : (options.wsUrl ?? []);
  const push = urls.length === 0 ? undefined : new SignatureSubscriptions({ urls });
  const loop = new ConfirmationLoop({ rpc, push, timing, now, resend, isLifeCertain: options.isLifeCertain });
  let closed = false;

  function send(transaction: Uint8Array, skipPreflight: boolean): Promise<string> {
    return rpc.sendTransaction(transaction, { skipPreflight, preflightCommitment: 'processed' });
  }

  function resend(waiting: PendingConfirmation): void {
    const { transaction, sentBefore } = waiting.wanted;
    if (transaction === undefined) return;
    waiting.nextSendAt = Number.POSITIVE_INFINITY;
    const again = (): void => {
      waiting.nextSendAt = now() + timing.rebroadcastMs;
    };
    // What no node has simulated and taken, or what was sent some time ago, must not cost its fee payer for nothing.
    send(transaction, !sentBefore && waiting.taken).then(again, again);
  }

  async function sendFirst(waiting: PendingConfirmation, { transaction, preflight }: Delivery): Promise<void> {
    try {
      await inSpan('tollhouse.send', {}, () => send(transaction, !preflight));
      waiting.taken = true;
      waiting.nextSendAt = now() + timing.rebroadcastMs;
      waiting.sent();
    } catch (error) {
      notTaken(waiting, preflight, error);
    }
  }

  function notTaken(waiting: PendingConfirmation, preflight: boolean, error: unknown): void {
    const failure = readSendFailure(error);
    if (failure.kind === 'not_sent' || !(error instanceof RpcError)) return waiting.fail(error);
    if (failure.kind === 'refused') return loop.doubt(waiting, { error });
    if (failure.kind === 'rejected') {
      const { err, logs } = failure;
      const rejected = { status: 'rejected', err, logs } as const;
      // The chain knows it, by the node's own word.
      if (err === 'AlreadyProcessed') waiting.end(rejected);
      else loop.doubt(waiting, { error, rejected });
      return;
    }
    waiting.taken = !preflight;
    waiting.nextSendAt = now();
    waiting.sent();
  }

  return {
    deliver(delivery): Promise<Landing> {
      if (closed) return rejectClosed();
      const waiting = loop.add({ sentBefore: false, ...delivery }, now() + timing.pollMs);
      void sendFirst(waiting, delivery);
      return confirm(waiting);
    },
    watch(wanted) {
      if (closed) return rejectClosed();
      return confirm(loop.add({ sentBefore: true, ...wanted }, now()));
    },
    async close() {
      closed = true;
      loop.close();
      await push?.close();
    },
  };
}

function confirm({ landing }: PendingConfirmation): Promise<Landing> {
  return inSpan('tollhouse.confirm', {}, (span) => {
    if (span === undefined) return landing;
    return landing.then((landed) => {
      span.set({ 'tollhouse.landing': landed.status });
      return landed;
    });
  });
}

function rejectClosed(): Promise<never> {
  return Promise.reject(new RpcError('closed', 'the delivery of transactions is closed'));
}
