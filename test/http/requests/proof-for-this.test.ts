import { Connection, Keypair, type MessageV0, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { splitAmount } from '../../../src/protocol/money/split.js';
import {
  CALL_PRICE,
  type ClientResponse,
  type MadeProject,
  proofHeader,
} from '../../helpers/fixtures/gateway-client.js';
import { type Caller, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { type DirectTransfer, signTransfer, transferDirectly } from '../../helpers/transactions/direct-transfer.js';
import { receiptOf, signPayment } from '../../helpers/transactions/payments.js';

const fixture = useGatewayFixture();
const PRICE_TEXT = '0.012347';
const HOUR_MS = 3_600_000;
/** How long after its time a request can still be paid by what was signed in time. */
const GRACE_MS = 90_000;

const outcome = ({ status, body }: ClientResponse) => [status, body['code']];
const refusal = ({ status, body }: ClientResponse) => [status, body['code'], body['error']];
const SERVED = [200, undefined];
const USED = [402, 'payment_already_used'];
const refusedFor = (reason: string) => [402, 'payment_invalid', reason];
const newAddress = () => Keypair.generate().publicKey.toBase58();

let caller: Caller;
beforeAll(async () => {
  caller = await fixture().newCaller();
});

const memoOf = ({ slug }: { readonly slug: string }, { id }: { readonly id: string }) => `tollhouse:${slug}:${id}`;
const legsOf = ({ split }: MadeProject) => splitAmount(CALL_PRICE, split);

function show(signature: string, by: { project?: MadeProject; caller?: Caller; rest?: string } = {}) {
  const { project = fixture().project, caller: who = caller, rest = '' } = by;
  return fixture().client.call(`${project.slug}${rest}`, {
    headers: { ...who.key.headers, ...proofHeader(signature) },
  });
}

/** The caller pays a call directly; by default as it is asked to. */
function paid(change: Partial<DirectTransfer> = {}, { project } = fixture()): Promise<string> {
  const memos = [memoOf(project, caller.key)];
  return transferDirectly(fixture().sandbox, { wallet: caller.wallet, legs: legsOf(project), memos, ...change });
}

/** A payment request for a call, made under the caller's key unless it says otherwise. */
async function asked(more: object = {}, { project, by = caller }: { project?: MadeProject; by?: Caller | null } = {}) {
  const { client, project: own } = fixture();
  const { slug, split } = project ?? own;
  const wanted = { amount: PRICE_TEXT, token: 'USDC', recipient: split[0]?.recipient, project: slug, ...more };
  const { status, body } = await client.ask('POST', '/create-payment', wanted, by === null ? {} : by.key.headers);
  expect(status).toBe(200);
  return { id: String(body['payment_id']), reference: String(body['reference']) };
}

/** A transaction as the chain keeps it. */
async function landedBytes(signature: string): Promise<{ readonly bytes: Uint8Array }> {
  const connection = new Connection(fixture().sandbox.rpcUrl, 'confirmed');
  const { transaction } = (await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 })) ?? {};
  if (transaction === undefined) throw new Error(`${signature} has not landed`);
  const { message, signatures } = transaction;
  return {
    bytes: new VersionedTransaction(
      message as MessageV0,
      signatures.map((it) => bs58.decode(it)),
    ).serialize(),
  };
}

async function expectUntouched(act: () => Promise<void>): Promise<void> {
  const before = fixture().hits();
  await act();
  expect(fixture().hits()).toBe(before);
}

describe('a payment without a request says what it is for', () => {
  test('the owner of the key pays from its own wallet, with one memo that names project and key', async () => {
    const signature = await paid();
    expect(outcome(await show(signature))).toEqual(SERVED);
    await expectUntouched(async () => expect(outcome(await show(signature, { rest: '?more' }))).toEqual(USED));
  });

  test.each<[string, () => Partial<DirectTransfer>]>([
    ['no memo', () => ({ memos: [] })],
    ['the memo of an invoice', () => ({ memos: ['invoice 4711'] })],
    ['a second memo', () => ({ memos: [memoOf(fixture().project, caller.key), 'invoice 4711'] })],
    ['the memo twice', () => ({ memos: Array<string>(2).fill(memoOf(fixture().project, caller.key)) })],
    ['the memo of another project', () => ({ memos: [memoOf({ slug: 'another' }, caller.key)] })],
    ['the memo of another key', () => ({ memos: [memoOf(fixture().project, fixture().key)] })],
    ['a reference of somebody else', () => ({ names: [newAddress()] })],
    ['a reference of somebody else and nothing more', () => ({ names: [newAddress()], memos: [] })],
    ['another fee payer', () => ({ feePayer: fixture().feePayer })],
  ])('%s buys nothing', async (_what, change) => {
    const signature = await paid(change());
    await expectUntouched(async () => {
      const answer = await show(signature);
      expect(refusal(answer)).toEqual(refusedFor('invalid_proof_unaddressed'));
      expect(answer.body['detail']).toContain(memoOf(fixture().project, caller.key));
    });
  });

  test('the 402 says how', async () => {
    const { client, project } = fixture();
    const { body } = await client.call(project.slug, { headers: caller.key.headers });
    expect(body['detail']).toContain(`tollhouse:${project.slug}:`);
  });

  test('for one project and one key of the wallet, though others cost the same', async () => {
    const { client, newProject, project } = fixture();
    const twin = await newProject({ split: project.split.map(({ recipient, bps }) => ({ recipient, bps })) });
    const second = { ...caller, key: await client.key(await client.signIn(caller.wallet)) };
    const signature = await paid();
    await expectUntouched(async () => {
      const elsewhere = [await show(signature, { project: twin }), await show(signature, { caller: second })];
      expect(elsewhere.map(refusal)).toEqual(elsewhere.map(() => refusedFor('invalid_proof_unaddressed')));
    });
    expect(outcome(await show(signature))).toEqual(SERVED);
  });
});

describe('one signature buys one thing', () => {
  test('not a call beside the x402 response that it bought, at this service or at another one', async () => {
    const { client, facilitatorWith, newProject, owner, serve } = fixture();
    const simple = await newProject();
    const init = { headers: caller.key.headers };
    const url = `${client.url}/v1/${simple.slug}`;
    const here = await signPayment({ sandbox: fixture().sandbox, payer: caller.wallet }, url, { init });
    const bought = await fetch(url, { headers: { ...caller.key.headers, ...here.v2 } });
    expect(bought.status).toBe(200);
    const seller = { facilitator: facilitatorWith({}), payTo: owner.publicKey.toBase58() };
    const gate = requirePayment({ ...seller, price: `${PRICE_TEXT} USDC` });
    const elsewhere = `${await serve((app) => app.get('/x', gate, (_req, res) => void res.end('bought')))}/x`;
    const there = await signPayment({ sandbox: fixture().sandbox, payer: caller.wallet }, elsewhere);
    const boughtThere = await fetch(elsewhere, { headers: there.v2 });
    expect(boughtThere.status).toBe(200);
    await expectUntouched(async () => {
      for (const answer of [bought, boughtThere]) {
        const shown = await show(receiptOf(answer).transaction, { project: simple, rest: '?more' });
        expect(shown.status).toBe(402);
      }
    });
  });

  test('not a second call beside the one that its payment request was settled for', async () => {
    const { client, project } = fixture();
    const { signature } = await client.pay({ project, payer: caller.wallet, key: caller.key });
    expect(outcome(await show(signature))).toEqual(SERVED);
    await expectUntouched(async () => expect(outcome(await show(signature, { rest: '?more' }))).toEqual(USED));
  });

  test('the memo helps nothing where a request was made under another key', async () => {
    const { reference } = await asked({}, { by: { wallet: fixture().payer, key: fixture().key } });
    const signature = await paid({ names: [reference] });
    await expectUntouched(async () => {
      expect(refusal(await show(signature))).toEqual(refusedFor('invalid_proof_foreign'));
    });
  });
});

describe('a payment request is paid in its time', () => {
  test('at its own terms, though the project’s have changed since', async () => {
    const { client, asOwner, newProject, owner, partner } = fixture();
    const project = await newProject();
    const { reference } = await asked({ expires_in: 30 }, { project });
    const recipient = partner.publicKey.toBase58();
    const change = { pricing: { amount: '100', token: 'USDC' }, split: [{ recipient, bps: 10_000 }] };
    const path = `/api/v1/projects/${project.id}`;
    const etag = (await client.ask('GET', path, undefined, asOwner)).headers.get('etag') ?? '';
    const headers = { ...asOwner, 'content-type': 'application/merge-patch+json', 'if-match': etag };
    const patched = await fetch(client.url + path, { method: 'PATCH', headers, body: JSON.stringify(change) });
    expect(patched.status).toBe(200);
    const legs = [{ recipient: owner.publicKey.toBase58(), amount: CALL_PRICE }];
    const signature = await paid({ legs, names: [reference], memos: [] });
    expect(outcome(await show(signature, { project }))).toEqual(SERVED);
  });

  test('made under no key it counts for the wallet that paid it', async () => {
    const { reference } = await asked({}, { by: null });
    const stranger = await fixture().newCaller();
    const signature = await paid({ names: [reference], memos: [] });
    await expectUntouched(async () => {
      expect(refusal(await show(signature, { caller: stranger }))).toEqual(refusedFor('invalid_proof_foreign'));
    });
    expect(outcome(await show(signature))).toEqual(SERVED);
  });

  test('or so long after it as a transaction signed in time may take', async () => {
    fixture().advance(-(30_000 + GRACE_MS - 20_000));
    const { reference } = await asked({ expires_in: 30 });
    fixture().advance(30_000 + GRACE_MS - 20_000);
    const signature = await paid({ names: [reference], memos: [] });
    expect(outcome(await show(signature))).toEqual(SERVED);
  });

  describe('and is good for its call however late it is shown', () => {
    afterEach(() => fixture().advance(-HOUR_MS));

    test.each([
      ['by whoever shows it first', false],
      ['after its request was asked after', true],
    ])('%s, and for one call', async (_how, isAskedFor) => {
      const { id, reference } = await asked();
      const signature = await paid({ names: [reference], memos: [] });
      fixture().advance(HOUR_MS);
      if (isAskedFor) {
        const { body } = await fixture().client.ask('GET', `/payments/${id}`);
        expect(body).toMatchObject({ status: 'settled', tx_signature: signature });
      }
      const stranger = await fixture().newCaller();
      expect(refusal(await show(signature, { caller: stranger }))).toEqual(refusedFor('invalid_proof_foreign'));
      expect(outcome(await show(signature))).toEqual(SERVED);
      await expectUntouched(async () => expect(outcome(await show(signature, { rest: '/other' }))).toEqual(USED));
    });

    test('though the wallet has paid twice, once', async () => {
      const { reference } = await asked();
      const one = await paid({ names: [reference], memos: [] });
      const two = await paid({ names: [reference], memos: [] });
      fixture().advance(HOUR_MS);
      expect(outcome(await show(one))).toEqual(SERVED);
      await expectUntouched(async () => expect(outcome(await show(two))).toEqual(USED));
    });

    test('but what came too late for its request is still told so, and a memo is good for ten minutes', async () => {
      fixture().advance(-HOUR_MS);
      const { reference } = await asked({ expires_in: 30 });
      fixture().advance(HOUR_MS);
      const late = await paid({ names: [reference], memos: [] });
      const direct = await paid();
      fixture().advance(HOUR_MS);
      await expectUntouched(async () => {
        expect(refusal(await show(late))).toEqual(refusedFor('invalid_transfer_late'));
        expect(refusal(await show(direct))).toEqual(refusedFor('invalid_proof_too_old'));
      });
    });
  });

  test.each([
    ['twenty hours', 20 * HOUR_MS],
    ['a little', 30_000 + GRACE_MS + 5_000],
  ])('what comes %s too late buys nothing, and is booked as late', async (_what, after) => {
    const { client } = fixture();
    fixture().advance(-after);
    const { id, reference } = await asked({ expires_in: 30 });
    fixture().advance(after);
    const signature = await paid({ names: [reference], memos: [] });
    await expectUntouched(async () => {
      const answer = await show(signature);
      expect(refusal(answer)).toEqual(refusedFor('invalid_transfer_late'));
      expect(answer.body['detail']).toMatch(/seller/);
      expect(refusal(await show(signature))).toEqual(refusedFor('invalid_transfer_late'));
    });
    const { body } = await client.ask('GET', `/payments/${id}`);
    const payer = caller.wallet.publicKey.toBase58();
    const late = { status: 'expired', reason: 'invalid_transfer_late', tx_signature: signature, payer };
    expect(body).toMatchObject(late);
    const again = await client.ask('POST', `/payments/${id}/transaction`, { payer });
    expect(outcome(again)).toEqual([400, 'payment_expired']);

    // Neither another transaction nor the late one itself settles it; the response names the money.
    const other = { wallet: caller.wallet, legs: legsOf(fixture().project), names: [reference] };
    for (const { bytes } of [await signTransfer(fixture().sandbox, other), await landedBytes(signature)]) {
      const signed_transaction = Buffer.from(bytes).toString('base64');
      const settled = await client.ask('POST', '/settle', { payment_id: id, signed_transaction });
      expect([...outcome(settled), settled.body['tx_signature']]).toEqual([400, 'payment_expired', signature]);
    }
  });

  test('what nobody shows is booked as late when somebody asks after it', async () => {
    const { client } = fixture();
    fixture().advance(-HOUR_MS);
    const { id, reference } = await asked({ expires_in: 30 });
    fixture().advance(HOUR_MS);
    const signature = await paid({ names: [reference], memos: [] });
    const { body } = await client.ask('GET', `/payments/${id}`);
    expect(body).toMatchObject({ status: 'expired', reason: 'invalid_transfer_late', tx_signature: signature });
    await expectUntouched(async () => {
      expect(refusal(await show(signature))).toEqual(refusedFor('invalid_transfer_late'));
    });
  });
});
