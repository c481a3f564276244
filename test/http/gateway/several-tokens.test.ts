import { SANDBOX_TOKENS, SOL_MINT } from '../../../src/protocol/networks/tokens.js';
import type { MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { proofHeader } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, type GatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { transferDirectly } from '../../helpers/transactions/direct-transfer.js';
import { askTerms, signPayment } from '../../helpers/transactions/payments.js';
import { payRequest } from '../../helpers/transactions/requests.js';

const mintOf = (symbol: string) => SANDBOX_TOKENS.find((it) => it.symbol === symbol)?.mint;
const PRICING = {
  amount: '0.01',
  token: 'USDC',
  prices: [
    { amount: '0.02', token: 'PYUSD' },
    { amount: '0.001', token: 'SOL' },
  ],
};

describe.each(DAILY_DATABASES)('a price in several tokens, on %s', (name, openDatabase) => {
  const opened = useGatewayFixture([name, openDatabase]);
  let fixture: GatewayFixture;
  let caller: Caller;
  let project: MadeProject;

  beforeAll(() => {
    fixture = opened();
  });
  beforeEach(async () => {
    fixture.upstream.respond((res) => void res.end('paid for'));
    const wallet = await fixture.sandbox.createWallet({ usdc: '10', pyusd: '10', sol: '2' });
    caller = { wallet, key: await fixture.client.key(await fixture.client.signIn(wallet)) };
    project = await fixture.newProject({ pricing: PRICING });
  });

  const urlOf = () => `${fixture.client.url}/v1/${project.slug}`;
  const call = async (headers: ProofHeaders = {}) => {
    const answer = await fixture.client.call(project.slug, { headers: { ...caller.key.headers, ...headers } });
    return answer.status;
  };
  const revenue = async () => {
    const path = `/api/v1/projects/${project.id}/analytics`;
    const { body } = await fixture.client.ask('GET', path, undefined, fixture.asOwner);
    return (body['totals'] as { readonly revenue: unknown }).revenue;
  };

  test('is offered in each of them', async () => {
    const { accepts } = await askTerms(urlOf(), { headers: caller.key.headers });
    expect(accepts.map(({ asset, amount }) => [asset, amount])).toEqual([
      [mintOf('USDC'), '10000'],
      [mintOf('PYUSD'), '20000'],
      [SOL_MINT, '1000000'],
    ]);
  });

  test('is paid in one of them by x402, by a payment request and by the memo of a key', async () => {
    const wallet = { sandbox: fixture.sandbox, payer: caller.wallet };
    const { v2 } = await signPayment(wallet, urlOf(), { init: { headers: caller.key.headers }, choice: 1 });
    expect(await call(v2)).toBe(200);
    const { header } = await payRequest(fixture.client, caller, { project: project.slug, token: 'SOL' });
    expect(await call(header)).toBe(200);
    const memos = [`tollhouse:${project.slug}:${caller.key.id}`];
    const legs = [{ recipient: fixture.owner.publicKey.toBase58(), amount: 20_000n }];
    const paid = { wallet: caller.wallet, legs, memos, token: 'PYUSD' };
    expect(await call(proofHeader(await transferDirectly(fixture.sandbox, paid)))).toBe(200);
    expect(await revenue()).toEqual({ PYUSD: '0.04', SOL: '0.001' });
    // As much of another token is another price.
    const less = { wallet: caller.wallet, legs: [{ ...legs[0]!, amount: 10_000n }], memos, token: 'PYUSD' };
    expect(await call(proofHeader(await transferDirectly(fixture.sandbox, less)))).toBe(402);
  });

  test('gives credit in the token that was paid, which pays the next call', async () => {
    fixture.upstream.respond((res) => void res.writeHead(500).end('no'));
    const wallet = { sandbox: fixture.sandbox, payer: caller.wallet };
    const { v2 } = await signPayment(wallet, urlOf(), { init: { headers: caller.key.headers }, choice: 1 });
    expect(await call(v2)).toBe(500);
    expect(await call()).toBe(500);
    fixture.upstream.respond((res) => void res.end('paid for'));
    expect([await call(), await call()]).toEqual([200, 402]);
    expect(await revenue()).toEqual({ PYUSD: '0.02' });
  });

  test.each([
    [[{ amount: '0.02', token: 'usdc' }], '/pricing/prices/0/token'],
    [
      [
        { amount: '0.02', token: 'PYUSD' },
        { amount: '0.03', token: 'PYUSD' },
      ],
      '/pricing/prices/1/token',
    ],
    [[{ amount: '0', token: 'PYUSD' }], '/pricing/prices/0/amount'],
  ])('names each token once, and %j does not', async (prices, pointer) => {
    const pricing = { ...PRICING, prices };
    const path = `/api/v1/projects/${project.id}`;
    const { status, body } = await fixture.client.ask('PATCH', path, { pricing }, fixture.asOwner);
    const errors = body['errors'] as readonly { readonly pointer: string }[];
    expect([status, errors.map((it) => it.pointer)]).toEqual([422, [pointer]]);
  });
});
