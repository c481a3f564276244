import { Keypair } from '@solana/web3.js';
import { openProof, type ProofUse } from '../../../../src/facilitator/proofs/landed-proof.js';
import { createWalletPayments } from '../../../../src/facilitator/proofs/wallet-payments.js';
import { REASONS, type Reason } from '../../../../src/protocol/reasons.js';
import type { LandedTransaction } from '../../../../src/solana/rpc/landed-transaction.js';
import { NATIVE_SOL } from '../../../../src/solana/transaction/programs.js';
import type { PaymentRequestRecord } from '../../../../src/storage/ledger/payment-request.js';
import { newClaim } from '../../../contracts/ledger-samples.js';
import {
  landedAs,
  NETWORK,
  newRequest,
  OUTAGE,
  openPaymentService,
  paying,
  secondProcess,
} from '../../../helpers/fixtures/payment-service-fixture.js';
import { ledgerWith } from '../../../helpers/storage/ledgers.js';

const SIGNATURE = '5'.repeat(88);
const SOL = { symbol: 'SOL', mint: NATIVE_SOL, decimals: 9, program: NATIVE_SOL };
const MEMO = 'tollhouse:project:key_1';
const PROJECT = { projectId: 'prj_1', owner: 'owner' };

/** A transfer of a thousand lamports that has landed, made for a request or by itself, and how it can be shown. */
async function open(made: Partial<PaymentRequestRecord> | 'directly' = { ...PROJECT, keyId: 'key_1' }) {
  const fixture = openPaymentService();
  const request = newRequest(fixture.now(), made === 'directly' ? {} : made);
  if (made !== 'directly') await fixture.ledger.savePaymentRequest(request);
  const direct = { reference: undefined, memo: MEMO };
  const { decoded, payer } = paying(made === 'directly' ? { ...request, ...direct } : request, false);
  const chain: { answer: LandedTransaction | null | Error } = {
    answer: landedAs(decoded, { blockTime: fixture.now() }),
  };
  const asked: unknown[] = [];
  const rpc = {
    ...fixture.parts.rpc,
    async getTransaction(...call: unknown[]) {
      asked.push(call);
      if (chain.answer instanceof Error) throw chain.answer;
      return chain.answer;
    },
  };
  const use: ProofUse = {
    ...PROJECT,
    resource: 'POST prj_1',
    keyId: 'key_1',
    wallet: payer,
    memo: MEMO,
    prices: [{ token: SOL, amount: 1_000n, legs: request.legs }],
  };
  const parts = { ...fixture.parts, rpc, walletPayments: createWalletPayments({ ...fixture.parts, rpc }) };
  const show = (change: Partial<ProofUse> = {}) => openProof(parts, SIGNATURE, { ...use, ...change });
  const landAs = (change: Partial<LandedTransaction>): void => {
    chain.answer = landedAs(decoded, { blockTime: fixture.now(), ...change });
  };
  return { ...fixture, fixture, parts, request, decoded, payer, onChain: chain, asked, use, show, landAs };
}

function refused(reason: Reason) {
  return { status: 'refused', refusal: { reason, message: REASONS[reason] } };
}

const FOREIGN = refused('invalid_proof_foreign');

describe('a proof that counts', () => {
  test('is held with its receipt, for what it was paid for', async () => {
    for (const made of [{ ...PROJECT, keyId: 'key_1' }, 'directly'] as const) {
      const at = await open(made);
      const opened = await at.show();
      if (opened.status !== 'open') throw new Error(opened.status);
      const { claim } = opened;
      const { payTo } = at.request;
      const [network, asset, amount, payer] = [NETWORK, NATIVE_SOL, 1_000n, at.payer];
      const receipt = { signature: SIGNATURE, network, payer, payTo, asset, amount, slot: 9 };
      const terms = {
        scheme: 'transfer',
        network,
        asset,
        amount,
        payTo,
        maxTimeoutSeconds: made === 'directly' ? 0 : 60,
      };
      const id = at.decoded.messageHash;
      expect(claim).toMatchObject({ id, payer, terms, resumed: false, receipt, lease: expect.any(String) });
      expect(await claim.settle()).toEqual({ status: 'settled', receipt });
      expect(await at.ledger.find(id)).toMatchObject({ state: 'confirmed', ...PROJECT, terms });
      const resource = made === 'directly' ? at.use.resource : at.request.id;
      expect(at.told).toMatchObject([['payment.settled', { id, resource, receipt }]]);
      expect(at.asked).toEqual([[SIGNATURE, 'confirmed']]);

      expect(await at.show()).toEqual({ status: 'in_progress' });
      await claim.keep();
      expect(at.leases.holds(id)).toBe(false);
      const again = await at.show();
      if (again.status !== 'open') throw new Error(again.status);
      expect(again.claim.resumed).toBe(true);
      await again.claim.served();
      expect(await at.show()).toEqual({ status: 'served', id, receipt });
    }
  });

  test('can be used up together with books of one’s own', async () => {
    const at = await open('directly');
    const opened = await at.show();
    if (opened.status !== 'open') throw new Error(opened.status);
    let written = 0;
    await opened.claim.served(async () => {
      written += 1;
    });
    expect([written, (await at.ledger.find(at.decoded.messageHash))?.state]).toEqual([1, 'confirmed']);
  });

  test('is held for as long as its use says', async () => {
    const at = await open('directly');
    await at.show({ leaseMs: 5_000 });
    const { parts } = secondProcess(at.fixture);
    const elsewhere = async () => (await openProof({ ...at.parts, leases: parts.leases }, SIGNATURE, at.use)).status;
    await at.advance(4_999);
    expect(await elsewhere()).toBe('in_progress');
    await at.advance(1);
    expect(await elsewhere()).toBe('open');
  });
});

describe('a proof counts for whom it belongs to', () => {
  test.each<[string, Partial<PaymentRequestRecord> | 'directly', Partial<ProofUse>, boolean]>([
    ['made under the key', { ...PROJECT, keyId: 'key_1' }, { wallet: 'another' }, true],
    ['made under another key', { ...PROJECT, keyId: 'key_2' }, {}, false],
    ['made for another project', { ...PROJECT, projectId: 'prj_2', keyId: 'key_1' }, {}, false],
    ['made for no project', { keyId: 'key_1' }, {}, false],
    ['made under no key, paid by the wallet', PROJECT, {}, true],
    ['made under no key, paid by another wallet', PROJECT, { wallet: 'another' }, false],
    ['paid directly by the wallet', 'directly', {}, true],
    ['paid directly by another wallet', 'directly', { wallet: 'another' }, false],
  ])('%s', async (_, made, change, counts) => {
    const at = await open(made);
    const opened = await at.show(change);
    if (counts) expect(opened.status).toBe('open');
    else expect([opened, at.told]).toEqual([FOREIGN, []]);
  });

  test('and not where another transaction has paid the request', async () => {
    const at = await open();
    const other = newClaim();
    await at.ledger.claim(other);
    await at.ledger.attachAttempt(at.request.id, other.id);
    expect(await at.show()).toStrictEqual({ status: 'used' });
  });

  test('and for one request of one caller: whoever brings another is told that it is used', async () => {
    const at = await open('directly');
    const bound = { fingerprint: 'request', retryHash: 'secret' };
    const opened = await at.show(bound);
    if (opened.status !== 'open') throw new Error(opened.status);
    await opened.claim.keep();
    const { receipt } = opened.claim;
    for (const other of [{ fingerprint: 'another' }, { retryHash: 'another' }, { resource: 'GET prj_1' }]) {
      expect(await at.show({ ...bound, ...other })).toEqual({ status: 'used', receipt });
    }
    expect((await at.show(bound)).status).toBe('open');
  });

  test('and not what is held for something else', async () => {
    const at = await open('directly');
    await at.ledger.claim(newClaim({ id: at.decoded.messageHash }));
    expect(await at.show()).toStrictEqual({ status: 'used' });
  });
});

describe('what does not pay', () => {
  test('is refused: what failed, with what the chain said', async () => {
    const at = await open();
    at.landAs({ err: 'AccountInUse' });
    const reason = 'invalid_exact_svm_transaction_failed';
    const message = `${REASONS[reason]} The chain said: "AccountInUse".`;
    expect(await at.show()).toEqual({ status: 'refused', refusal: { reason, message } });
  });

  test.each([{ ...PROJECT, keyId: 'key_1' }, PROJECT, 'directly'] as const)(
    'is refused: what did not arrive',
    async (made) => {
      const at = await open(made);
      at.landAs({ lamports: new Map([[at.request.payTo, { before: 0n, after: 999n }]]) });
      expect(await at.show({ wallet: 'another' })).toEqual(refused('invalid_transfer_not_received'));
    },
  );

  test('is refused: anything, where the price names nobody', async () => {
    const at = await open('directly');
    const prices = at.use.prices.map((it) => ({ ...it, legs: [] }));
    expect(await at.show({ prices })).toEqual(refused('invalid_transfer_leg_missing'));
  });

  test('or is not known, cannot be said yet', async () => {
    const at = await open();
    const known = at.onChain.answer;
    at.onChain.answer = null;
    expect(await at.show()).toEqual({ status: 'not_confirmed' });
    at.onChain.answer = OUTAGE;
    await expect(at.show()).rejects.toMatchObject({ code: 'payment_backend_unavailable' });
    at.onChain.answer = known;
    expect((await at.show()).status).toBe('open');
  });
});

describe('the time of a proof', () => {
  test('is ten minutes', async () => {
    for (const late of [0, 1]) {
      const at = await open('directly');
      await at.advance(600_000 + late);
      const opened = await at.show();
      if (late === 0) expect(opened.status).toBe('open');
      else expect(opened).toEqual(refused('invalid_proof_too_old'));
    }
    const untold = await open('directly');
    untold.landAs({ blockTime: undefined });
    expect(await untold.show()).toEqual(refused('invalid_proof_too_old'));
  });

  test('is that of its request where it paid one, as long as the books know what has paid it', async () => {
    const at = await open();
    await at.advance(24 * 3_600_000);
    expect((await at.show()).status).toBe('open');

    const forgotten = await open();
    const ledger = ledgerWith(forgotten.ledger, { find: async () => undefined });
    const show = async () => openProof({ ...forgotten.parts, ledger }, SIGNATURE, forgotten.use);
    const other = newClaim();
    await forgotten.ledger.claim(other);
    await forgotten.ledger.attachAttempt(forgotten.request.id, other.id);
    await forgotten.advance(600_001);
    expect(await show()).toEqual(refused('invalid_proof_too_old'));
  });

  test('begins with what the ledger remembers, give or take two seconds', async () => {
    for (const early of [2_000, 2_001]) {
      const at = await open('directly');
      at.landAs({ blockTime: at.now() - early });
      const opened = await at.show();
      if (early === 2_000) expect(opened.status).toBe('open');
      else expect(opened).toEqual(refused('invalid_proof_before_start'));
    }
  });

  test.each(['directly', undefined] as const)(
    'is not that which books have lost that were restored from a backup (%s)',
    async (how) => {
      for (const early of [60_000, 240_000]) {
        const at = await open(how);
        Object.assign(at.ledger, { remembersUntil: at.now() - 120_000 });
        at.landAs({ blockTime: at.now() - early });
        const opened = await at.show();
        if (early === 240_000) expect(opened.status).toBe('open');
        else expect(opened).toEqual(refused('invalid_proof_in_lost_books'));
      }
    },
  );
});

test('what explains itself is not looked for among the references', async () => {
  const at = await open();
  const looked: (readonly string[])[] = [];
  const ledger = ledgerWith(at.ledger, {
    async findPaymentRequestByReference(accounts) {
      looked.push(accounts);
      return undefined;
    },
  });
  const tokenAccount = Keypair.generate().publicKey.toBase58();
  const { accounts } = at.decoded;
  const held = { mint: '', ownerBefore: undefined, ownerAfter: undefined, decimals: 0, before: 0n, after: 0n };
  at.landAs({ accounts: [...accounts, tokenAccount], tokenAccounts: new Map([[tokenAccount, held]]) });
  await openProof({ ...at.parts, ledger }, SIGNATURE, at.use);
  expect(looked).toEqual([[at.request.reference]]);

  const { reference } = at.request;
  at.landAs({ accounts: accounts.filter((it) => it !== reference) });
  await openProof({ ...at.parts, ledger }, SIGNATURE, at.use);
  expect(looked).toHaveLength(1);
});
