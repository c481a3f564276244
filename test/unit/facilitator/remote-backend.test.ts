import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import type { InspectedPayment, SettlementBackend } from '../../../src/facilitator/backend.js';
import { createRemote, type Remote } from '../../../src/facilitator/remote.js';
import { createRemoteBackend, remoteHealth } from '../../../src/facilitator/remote-backend.js';
import { RemoteFault } from '../../../src/facilitator/remote-client.js';
import { KNOWN_TOKENS } from '../../../src/protocol/tokens.js';
import type { Commitment, Payment, Terms } from '../../../src/protocol/types.js';
import { buildPaymentTransaction } from '../../../src/solana/payment-transaction.js';
import { rejectionOf } from '../../helpers/fake-node.js';
import { DEVNET, newAddress, openRemotePeer, type RemotePeer } from '../../helpers/remote-peer.js';

const LONG = 7_000;
const SIGNATURE = bs58.encode(new Uint8Array(64).fill(7));
const AWAY = 'The facilitator cannot be reached at the moment; nothing was charged.';

let closers: (() => Promise<void>)[] = [];
beforeEach(() => {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  jest.restoreAllMocks();
});

async function aPeer(feePayer?: string): Promise<RemotePeer> {
  const peer = await openRemotePeer(feePayer);
  closers = [...closers, peer.close];
  return peer;
}

function remoteOf({ url }: RemotePeer): Remote {
  const remote = createRemote({ url, headers: {}, network: DEVNET, timeoutMs: LONG });
  closers = [() => remote.client.close(), ...closers];
  return remote;
}

const fault = () => new RemoteFault('it is away', true);

/** Facilitators in a state: never asked, known, or known and away since. */
async function remotesOf(...states: [RemotePeer, 'unknown' | 'well' | 'away'][]): Promise<readonly Remote[]> {
  const remotes = states.map(([peer]) => remoteOf(peer));
  for (const [index, [, state]] of states.entries()) {
    if (state !== 'unknown') await remotes[index]?.renew(0);
    if (state === 'away') remotes[index]?.failed(fault());
  }
  return remotes;
}

function backendOf(remotes: readonly Remote[], settleTimeoutMs = LONG): SettlementBackend {
  return createRemoteBackend({ network: DEVNET, remotes, timeoutMs: LONG, settleTimeoutMs });
}

function newPayment(feePayer: string, maxTimeoutSeconds = 60): { readonly payment: Payment; readonly terms: Terms } {
  const [usdc] = KNOWN_TOKENS[DEVNET];
  if (usdc === undefined) throw new Error('no USDC');
  const { mint: asset, program: tokenProgram, decimals } = usdc;
  const [payTo, blockhash, amount] = [newAddress(), newAddress(), 10_000n];
  const terms = { scheme: 'exact', network: DEVNET, asset, amount, payTo, maxTimeoutSeconds, feePayer } as const;
  const input = { payer: Keypair.generate(), feePayer, asset, tokenProgram, decimals, amount, payTo, blockhash };
  return { terms, payment: { scheme: 'exact', network: DEVNET, transaction: buildPaymentTransaction(input) } };
}

async function inspected(
  backend: SettlementBackend,
  { feePayer }: { readonly feePayer: string },
  maxTimeoutSeconds?: number,
): Promise<InspectedPayment> {
  const { payment, terms } = newPayment(feePayer, maxTimeoutSeconds);
  const inspection = await backend.inspect(payment, terms);
  if (!inspection.ok) throw new Error(inspection.refusal.message);
  return inspection.inspected;
}

/** A step that writes down what is noted. */
function stepOf({ commitment = 'confirmed', isHeld = true }: { commitment?: Commitment; isHeld?: boolean } = {}) {
  const noted: unknown[] = [];
  return {
    noted,
    commitment,
    recordBroadcast: async (broadcast: unknown) => {
      noted.push(broadcast);
      return isHeld;
    },
    withdrawBroadcast: async () => {
      noted.push('withdrawn');
      return true;
    },
  };
}

const outage = (message: string) =>
  expect.objectContaining({ code: 'payment_backend_unavailable', message, context: expect.anything() });

describe('what is offered', () => {
  test('is of the first that is well, and every signer that is known', async () => {
    const [away, well, unknown] = [await aPeer(), await aPeer(), await aPeer()];
    unknown.replies = { '/supported': 'silence' };
    const backend = backendOf(await remotesOf([away, 'away'], [well, 'well'], [unknown, 'unknown']));
    expect(await backend.supported()).toEqual({
      kinds: [{ scheme: 'exact', network: DEVNET, feePayer: well.feePayer }],
      extensions: ['bazaar'],
      signers: [away.feePayer, well.feePayer],
    });
  });

  test('is the last word of one that is away, without a wait for any', async () => {
    const [unknown, away] = [await aPeer(), await aPeer()];
    const remotes = await remotesOf([unknown, 'unknown'], [away, 'away']);
    for (const peer of [unknown, away]) peer.replies = { '/supported': 'silence' };
    const { kinds } = await backendOf(remotes).supported();
    expect(kinds).toEqual([{ scheme: 'exact', network: DEVNET, feePayer: away.feePayer }]);
  });

  test('is nothing, and an outage, where none was ever reached', async () => {
    const peer = await aPeer();
    peer.replies = {};
    const message = 'The facilitator cannot be reached at the moment; send the same payment again later.';
    const error = await rejectionOf(backendOf(await remotesOf([peer, 'unknown'])).supported());
    expect(error).toEqual(outage(message));
    expect(error).toMatchObject({ context: { retryAfterSeconds: 2 } });
  });
});

describe('health', () => {
  test.each([
    ['active', ['well', 'well'], 0, []],
    ['degraded', ['well', 'away'], 0, ['facilitator_unreachable']],
    ['degraded', ['away', 'well'], 1, ['facilitator_unreachable']],
    ['down', ['away', 'away'], 0, ['facilitator_unreachable']],
  ] as const)(
    'is %s where they are %j, and names the wallet that is offered',
    async (status, states, offered, faults) => {
      const peers = [await aPeer(), await aPeer()] as const;
      const remotes = await remotesOf([peers[0], states[0]], [peers[1], states[1]]);
      expect(await remoteHealth(remotes)).toEqual({ status, wallet: peers[offered].feePayer, faults });
    },
  );

  test('of one that was never reached is down, without a wallet', async () => {
    const peer = await aPeer();
    peer.replies = {};
    expect(await remoteHealth(await remotesOf([peer, 'unknown']))).toEqual({
      status: 'down',
      wallet: '',
      faults: ['facilitator_unreachable'],
    });
  });
});

describe('who is asked', () => {
  const isValid = { body: { isValid: true } };

  test('is who signs for the terms: one that was never reached is passed over', async () => {
    const [unknown, well] = [await aPeer(), await aPeer()];
    unknown.replies = { '/supported': 'silence' };
    well.replies = { ...well.replies, '/verify': isValid };
    const backend = backendOf(await remotesOf([unknown, 'unknown'], [well, 'well']));
    const payment = await inspected(backend, well);
    expect(await backend.verify(payment)).toEqual({ ok: true, payer: payment.payer });
    expect(unknown.count('/verify')).toBe(0);
  });

  test('is first who is well, and each once', async () => {
    const key = newAddress();
    const [away, broken, well] = [await aPeer(key), await aPeer(key), await aPeer(key)];
    well.replies = { ...well.replies, '/verify': isValid };
    const backend = backendOf(await remotesOf([away, 'away'], [well, 'well']));
    expect(await backend.verify(await inspected(backend, well))).toMatchObject({ ok: true });
    expect([away.count('/verify'), well.count('/verify')]).toEqual([0, 1]);

    const lost = backendOf(await remotesOf([away, 'away'], [broken, 'well']));
    const error = await rejectionOf(lost.verify(await inspected(lost, well)));
    expect(error).toEqual(outage(AWAY));
    const last = `/verify at ${away.host}: answered HTTP 500`;
    expect(error).toMatchObject({ context: { retryAfterSeconds: 2, cause: { message: last } } });
    expect([away.count('/verify'), broken.count('/verify')]).toEqual([1, 1]);
  });

  test('is nobody where nobody signs for the terms: an outage, and the note is taken back', async () => {
    const peer = await aPeer();
    const backend = backendOf(await remotesOf([peer, 'well']));
    const payment = await inspected(backend, peer);
    const elsewhere = { ...payment, terms: { ...payment.terms, feePayer: newAddress() } };
    const step = stepOf();
    const error = await rejectionOf(backend.settle(elsewhere, step));
    expect(error).toEqual(outage(AWAY));
    expect(error).toMatchObject({ context: { cause: { message: 'no facilitator signs for these terms' } } });
    expect(step.noted).toEqual([{}, 'withdrawn']);
    expect(peer.count('/settle')).toBe(0);
  });
});

describe('how a settlement ends', () => {
  const refusal = { errorReason: 'insufficient_funds', errorMessage: 'too little' };
  const landedWithError = {
    errorReason: 'invalid_exact_svm_transaction_failed',
    errorMessage: 'it failed',
    transaction: SIGNATURE,
  };
  const expired = { errorReason: 'invalid_exact_svm_transaction_expired', errorMessage: 'too late' };
  const failure = { reason: 'insufficient_funds', message: 'too little' };
  const failed = {
    status: 'failed',
    final: 'failed',
    reason: 'invalid_exact_svm_transaction_failed',
    message: 'it failed',
    signature: SIGNATURE,
  };
  const over = {
    status: 'failed',
    final: 'expired',
    reason: 'invalid_exact_svm_transaction_expired',
    message: 'too late',
  };
  const pending = { errorReason: 'settlement_pending' };
  const known = { signature: SIGNATURE };
  const cases: [string, object, object, object, object[]][] = [
    ['a refusal', refusal, { ...failure, status: 'unsent' }, { status: 'pending' }, []],
    ['landed with an error', landedWithError, failed, failed, []],
    ['expired', expired, over, over, []],
    ['pending', pending, { status: 'pending' }, { status: 'pending' }, []],
    [
      'pending with a signature',
      { ...pending, transaction: SIGNATURE },
      { status: 'pending', ...known },
      { status: 'pending', ...known },
      [known],
    ],
  ];

  async function scene(answer: object) {
    const peer = await aPeer();
    peer.replies = { ...peer.replies, '/settle': { body: { success: false, ...answer } } };
    const backend = backendOf(await remotesOf([peer, 'well']));
    return { backend, payment: await inspected(backend, peer), step: stepOf() };
  }

  /** A payment that was sent before. */
  function recordOf({ payer, terms, transaction }: InspectedPayment, signature?: string) {
    const { messageHash: id, blockhash } = transaction;
    const record = { id, state: 'broadcast', binding: 'x', payer, terms, blockhash, claimedAt: 0 } as const;
    return signature === undefined ? record : { ...record, signature };
  }

  test.each(cases)('%s, asked for the first time', async (_name, answer, expected, _again, notes) => {
    const { backend, payment, step } = await scene(answer);
    expect(await backend.settle(payment, step)).toStrictEqual({ payer: payment.payer, ...expected });
    expect(step.noted).toEqual([{}, ...notes]);
  });

  test.each(cases)('%s, asked for again', async (_name, answer, _first, expected, notes) => {
    const { backend, payment, step } = await scene(answer);
    const record = recordOf(payment);
    expect(await backend.resume(payment, record, step)).toStrictEqual({ payer: payment.payer, ...expected });
    expect(step.noted).toEqual(notes);
  });

  test('a refusal of one that was sent is not believed; its signature stays known', async () => {
    const { backend, payment, step } = await scene(refusal);
    const open = { status: 'pending', payer: payment.payer, signature: SIGNATURE };
    expect(await backend.resume(payment, recordOf(payment, SIGNATURE), step)).toStrictEqual(open);
  });

  test('what is held by somebody else by now is not asked for', async () => {
    const peer = await aPeer();
    const backend = backendOf(await remotesOf([peer, 'well']));
    const payment = await inspected(backend, peer);
    expect(await backend.settle(payment, stepOf({ isHeld: false }))).toMatchObject({
      status: 'unsent',
      reason: 'settlement_in_progress',
      payer: payment.payer,
    });
    expect(peer.count('/settle')).toBe(0);
  });

  test('one that was turned away is an outage, and the note is taken back', async () => {
    const peer = await aPeer();
    peer.replies = { ...peer.replies, '/settle': { status: 429, body: '' } };
    const backend = backendOf(await remotesOf([peer, 'well']));
    const step = stepOf();
    const error = await rejectionOf(backend.settle(await inspected(backend, peer), step));
    expect(error).toEqual(outage(AWAY));
    expect(error).toMatchObject({ context: { cause: { message: `/settle at ${peer.host}: answered HTTP 429` } } });
    expect(step.noted).toEqual([{}, 'withdrawn']);
  });

  test.each([
    [1, 65_000, 6_000],
    [60, 65_000, 65_000],
    [60, 64_999, 64_999],
    [60, 65_001, 65_000],
  ])('terms of %i s, at most %i ms: the answer is waited for %i ms', async (seconds, most, waited) => {
    const peer = await aPeer();
    peer.replies = { ...peer.replies, '/settle': { body: { success: false, ...pending } } };
    const backend = backendOf(await remotesOf([peer, 'well']), most);
    const payment = await inspected(backend, peer, seconds);
    const timers = jest.spyOn(globalThis, 'setTimeout');
    await backend.settle(payment, stepOf());
    expect(timers.mock.calls.map(([, ms]) => ms)).toContain(waited);
  });

  test('only a commitment that cannot be asked for is warned of, once', async () => {
    const told: unknown[] = [];
    const { backend, payment } = await scene(pending);
    jest.spyOn(process, 'emitWarning').mockImplementation((...args) => void told.push(args));
    for (const commitment of ['processed', 'confirmed'] as const) await backend.settle(payment, stepOf({ commitment }));
    expect(told).toEqual([]);
    for (let index = 0; index < 2; index += 1) await backend.settle(payment, stepOf({ commitment: 'finalized' }));
    expect(told).toEqual([
      [
        'a route asks for the commitment "finalized", which cannot be asked of another facilitator; use createFacilitator for it',
        { code: 'TOLLHOUSE_REMOTE_COMMITMENT' },
      ],
    ]);
  });
});
