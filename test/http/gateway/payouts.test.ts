import { openApiDocument } from '../../../src/http/openapi/openapi.js';
import { PAYOUTS_OPERATIONS } from '../../../src/http/payouts/operations.js';
import { type KeysFixture, keyHeaders } from '../../helpers/fixtures/keys-fixture.js';
import { openPayoutFixture, type PayoutFixture, type PayoutInstance } from '../../helpers/fixtures/payout-fixture.js';
import { leavePayout, servePayouts } from '../../helpers/fixtures/payout-service.js';
import { createConformance, type OpenApi } from '../../helpers/http/documented.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const [alice, bob, seller] = [walletKey('alice'), walletKey('bob'), walletKey('seller')];
const OWNERS: Readonly<Record<string, string>> = { prj_shop: alice.address, prj_other: alice.address };
const folder = testFolder();
const faultsOf = createConformance(openApiDocument('test', '1', PAYOUTS_OPERATIONS) as object as OpenApi);

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

let fixture: PayoutFixture;
let keys: KeysFixture;
let instance: PayoutInstance;
let url: string;
let asAlice: ProofHeaders;
let anna: string;
let poor: string;

beforeAll(async () => {
  fixture = await openPayoutFixture();
});
afterAll(() => fixture.close());

beforeEach(async () => {
  ({ keys, instance, url } = await servePayouts(fixture, folder.newPath('db'), OWNERS));
  asAlice = await keys.token(alice);
  anna = await fixture.newRecipient();
  poor = (await fixture.sandbox.createWallet()).publicKey.toBase58();
});
afterEach(async () => {
  fixture.sandbox.faults.clear();
  await instance.payouts.close();
  await keys.close();
});

/** Asks; the response must be as the OpenAPI document says. */
async function ask(method: string, path = '', headers: ProofHeaders = asAlice, project = 'prj_shop'): Promise<Answer> {
  const route = `/api/v1/projects/${project}/payouts${path}`;
  const answer = await fetch(url + route, { method, headers });
  const text = await answer.text();
  const { status } = answer;
  expect(faultsOf(method, route, { status, headers: answer.headers, text })).toEqual([]);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  return { status, body: JSON.parse(text) };
}

const earn = (toAnna: bigint, toPoor = 0n) =>
  fixture.land(keys.database, 'prj_shop', [
    { recipient: anna, amount: toAnna },
    { recipient: poor, amount: toPoor },
  ]);

const codeOf = ({ status, body }: Answer) => [status, body['code']];

test('what is owed is told by recipient and token, and why it is held back', async () => {
  await earn(1_500_000n, 250_000n);
  const payments = {
    token: 'USDC',
    mint: fixture.mint,
    wallet: fixture.wallet,
    payments: 1,
    oldest_at: expect.any(String),
  };
  const free = { minimum: null, minimum_atomic: null, payable_from: null };
  const toPoor = { ...payments, ...free, recipient: poor, amount: '0.25', amount_atomic: '250000' };
  const toAnna = { ...payments, ...free, recipient: anna, amount: '1.5', amount_atomic: '1500000', held_back: null };

  const before = await ask('GET', '/owed');
  expect(before.body['data']).toEqual(expect.arrayContaining([toAnna, { ...toPoor, held_back: null }]));
  const asked = await ask('POST');
  const missing = { ...toPoor, held_back: 'recipient_token_account_missing' };
  expect([asked.status, asked.body['owed']]).toEqual([202, [missing]]);
  expect((await ask('GET', '/owed')).body).toEqual({ data: [missing] });
});

test('a payout that was asked for is on its way at once, and listed with its legs and where to see it', async () => {
  await earn(1_500_000n);
  const { status, body } = await ask('POST');
  expect(status).toBe(202);
  expect(body['payouts']).toMatchObject([{ state: 'created', amount: '1.5', signature: null, explorer_url: null }]);
  await instance.payouts.close();

  const list = await ask('GET');
  const [payout] = list.body['data'] as readonly Record<string, unknown>[];
  expect(payout).toMatchObject({
    project_id: 'prj_shop',
    state: 'paid',
    network: 'solana-devnet',
    token: 'USDC',
    amount_atomic: '1500000',
    legs: [{ recipient: anna, amount: '1.5', amount_atomic: '1500000' }],
    explorer_url: `${url}/explorer/tx/${payout?.['signature']}`,
    reason: null,
  });
  expect(fixture.held(anna)).toBe(1_500_000n);
});

test('with nothing to pay the answer is 200, and there is no payout', async () => {
  const { status, body } = await ask('POST');
  expect([status, body]).toEqual([200, { payouts: [], owed: [] }]);
  expect((await ask('GET')).body).toMatchObject({ object: 'list', data: [], has_more: false, next_cursor: null });
});

test('the list goes page by page, and refuses a cursor that is none', async () => {
  for (let index = 0; index < 3; index += 1) {
    await earn(10n);
    await ask('POST');
    await fixture.advance(1);
  }
  const first = await ask('GET', '?limit=2');
  const second = await ask('GET', `?limit=2&cursor=${String(first.body['next_cursor'])}`);
  const idsOf = ({ body }: Answer) => (body['data'] as readonly { id: string }[]).map(({ id }) => id);

  expect([first.body['has_more'], second.body['has_more']]).toEqual([true, false]);
  expect(new Set([...idsOf(first), ...idsOf(second)]).size).toBe(3);
  expect(codeOf(await ask('GET', '?cursor=nonsense'))).toEqual([422, 'validation_failed']);
});

test('nobody but the owner, and keys with the scope for this project, see or move anything', async () => {
  await earn(10n);
  const asBob = await keys.token(bob);
  const keyFor = async (wanted: object) => keyHeaders(await keys.make(alice.address, { mode: 'test', ...wanted }));
  const reader = await keyFor({ scopes: ['payouts:read'] });
  const elsewhere = await keyFor({ scopes: ['payouts:read'], projectId: 'prj_other' });

  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/owed'],
    ['POST', ''],
    ['GET', '/pyo_none'],
    ['POST', '/pyo_none/resolve'],
  ] as const) {
    expect(codeOf(await ask(method, path, asBob))).toEqual([404, 'project_not_found']);
    expect(codeOf(await ask(method, path, {}))).toEqual([401, 'unauthenticated']);
    expect(codeOf(await ask(method, path, asAlice, 'prj_none'))).toEqual([404, 'project_not_found']);
  }
  expect(codeOf(await ask('POST', '', reader))).toEqual([403, 'insufficient_scope']);
  expect(codeOf(await ask('GET', '/owed', elsewhere))).toEqual([404, 'project_not_found']);
  expect((await ask('GET', '/owed', reader)).status).toBe(200);
  expect(await instance.payouts.list('prj_shop', 10)).toEqual([]);
});

test('a deleted project: what it owes is told to its owner and to nobody else, and is paid as agreed', async () => {
  const land = (project: string, amount: bigint) =>
    fixture.land(keys.database, project, [{ recipient: anna, amount }], fixture.wallet, seller.address);
  // None of them is among the projects any more; the payments say whose they were.
  await land('prj_gone', 1_000_000n);
  const asSeller = await keys.token(seller);
  const gone = async (method: string, path = '', headers = asSeller) => ask(method, path, headers, 'prj_gone');

  expect((await gone('GET', '/owed')).body['data']).toMatchObject([{ recipient: anna, amount: '1' }]);
  expect(codeOf(await gone('GET', '/owed', asAlice))).toEqual([404, 'project_not_found']);
  expect(codeOf(await gone('POST', '', asAlice))).toEqual([404, 'project_not_found']);
  await fixture.advance(86_400_000);
  await instance.payouts.run();
  expect(fixture.held(anna)).toBe(1_000_000n);
  expect((await gone('GET')).body['data']).toMatchObject([{ state: 'paid', legs: [{ recipient: anna, amount: '1' }] }]);
  await instance.book.prune(fixture.now() + 1, 100);
  expect((await gone('GET')).body['data']).toHaveLength(1);

  await land('prj_gone', 2_000_000n);
  expect((await gone('POST')).status).toBe(202);
  await instance.payouts.close();
  expect(fixture.held(anna)).toBe(3_000_000n);
});

test('nothing is planned while the chain cannot be asked', async () => {
  await earn(10n);
  const fault = fixture.sandbox.faults.add({ kind: 'error', method: 'getMultipleAccounts' });
  expect(codeOf(await ask('POST'))).toEqual([503, 'chain_unavailable']);
  fault.remove();

  expect((await ask('POST')).status).toBe(202);
});

describe('a payout of which nobody can say whether it has landed', () => {
  const one = async () => (await instance.payouts.list('prj_shop', 1))[0]!;

  test('is in a state of its own, stays in it while the chain cannot tell, and is resolved by what it says', async () => {
    await earn(1_500_000n);
    const id = await leavePayout(fixture, keys.database, { sent: 'landed', to: anna });
    fixture.sandbox.faults.add({ kind: 'silent' });
    fixture.sandbox.faults.add({ kind: 'forget' });
    await instance.payouts.run();
    const seen = { id, state: 'unknown', reason: 'outcome_unknown', signature: expect.any(String) };
    expect((await ask('GET')).body['data']).toMatchObject([seen]);
    expect((await ask('GET', `/${id}`)).body).toMatchObject(seen);
    for (let again = 0; again < 2; again += 1) {
      expect(await ask('POST', `/${id}/resolve`)).toMatchObject({
        status: 200,
        body: { resolution: 'open', payout: seen },
      });
    }
    fixture.sandbox.faults.add({ kind: 'error' });
    expect((await ask('POST', `/${id}/resolve`)).body).toMatchObject({ resolution: 'open', payout: seen });
    expect((await ask('POST')).body).toEqual({ payouts: [], owed: [] });
    fixture.sandbox.faults.clear();

    const asked = await Promise.all([ask('POST', `/${id}/resolve`), ask('POST', `/${id}/resolve`)]);
    expect(asked.map(({ body }) => body['resolution'])).toEqual(expect.arrayContaining(['resolved']));
    expect((await ask('POST', `/${id}/resolve`)).body).toMatchObject({
      resolution: 'resolved',
      payout: { state: 'paid', reason: null },
    });
    await instance.payouts.run();
    expect(fixture.held(anna)).toBe(1_500_000n);
  });

  test('is failed and owed again where a node proves that it never landed, and then paid once', async () => {
    await earn(2_000_000n);
    const id = await leavePayout(fixture, keys.database, { sent: 'unsent', to: anna });
    expect((await ask('POST', `/${id}/resolve`)).body).toMatchObject({
      resolution: 'resolved',
      payout: { state: 'failed' },
    });
    expect((await ask('GET', '/owed')).body['data']).toMatchObject([{ recipient: anna, amount: '2' }]);
    expect((await ask('POST')).status).toBe(202);
    await instance.payouts.close();
    expect(fixture.held(anna)).toBe(2_000_000n);
  });

  test('is resolved by nobody but its owner, of the project that it is of, with a key that may pay out', async () => {
    await earn(3n);
    const id = await leavePayout(fixture, keys.database, { sent: 'landed', to: anna });
    const reader = keyHeaders(await keys.make(alice.address, { mode: 'test', scopes: ['payouts:read'] }));
    for (const [proof, project, told] of [
      [await keys.token(bob), 'prj_shop', [404, 'project_not_found']],
      [asAlice, 'prj_other', [404, 'not_found']],
      [reader, 'prj_shop', [403, 'insufficient_scope']],
    ] as const) {
      expect(codeOf(await ask('POST', `/${id}/resolve`, proof, project))).toEqual(told);
    }
    expect((await ask('GET', `/${id}`, reader)).status).toBe(200);
    expect(codeOf(await ask('GET', `/${id}`, asAlice, 'prj_other'))).toEqual([404, 'not_found']);
    expect(await one()).toMatchObject({ state: 'broadcast' });
  });
});
