import { decodePaymentRequiredHeader } from '@x402/core/http';
import { PaymentRequiredV1Schema, PaymentRequiredV2Schema } from '@x402/core/schemas';
import { createIdentity } from '../../src/identity/create-identity.js';
import { anyOf } from '../../src/middleware/gate/any-of.js';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { requireTokenBalance } from '../../src/middleware/wallet/require-token-balance.js';
import { useGatewayFixture } from '../helpers/fixtures/gateway-fixture.js';
import { encodeHeader, signPayment } from '../helpers/transactions/payments.js';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

const fixture = useGatewayFixture();
let url: string;

beforeAll(async () => {
  const { facilitator, payTo, router } = fixture();
  url = await fixture().serve((app) => {
    for (const settle of ['after', 'before'] as const) {
      const path = `/${settle}`;
      const price = ['$0.01', '0.02 PYUSD'];
      app.get(path, requirePayment({ facilitator, price, payTo, settle, discovery: { path } }), (_req, res) => {
        res.send('served');
      });
    }
    const identity = createIdentity({ network: facilitator.network });
    const [usdc] = facilitator.tokens;
    const holders = requireTokenBalance({ facilitator, identity, mint: usdc!.mint, minBalance: 100 });
    app.get('/club', anyOf(holders, requirePayment({ facilitator, price: '$0.01', payTo })));
    app.use(router);
  });
});

const routes = () => [
  { path: '/after', flow: undefined, headers: {} },
  { path: '/before', flow: 'upfront', headers: {} },
  { path: '/club', flow: undefined, headers: {} },
  { path: `/v1/${fixture().project.slug}`, flow: 'upfront', headers: fixture().key.headers },
];

/** Where a value holds `null`. */
function nullsIn(value: unknown, where = ''): string[] {
  if (value === null) return [where];
  if (typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, it]) => nullsIn(it, `${where}/${key}`));
}

async function ask(path: string, headers: Readonly<Record<string, string>>) {
  const answer = await fetch(url + path, { headers });
  return { answer, required: decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '') };
}

async function answerTo(path: string, body?: object): Promise<unknown> {
  const posted = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  return (await fetch(url + path, body === undefined ? {} : posted)).json();
}

test('a 402 leaves out what is not there, in both versions', async () => {
  for (const { path, headers } of routes()) {
    const { answer, required } = await ask(path, headers);
    const body: unknown = await answer.json();
    expect([answer.status, nullsIn(body), nullsIn(required)]).toEqual([402, [], []]);
    expect(JSON.stringify(body)).not.toContain('outputSchema');
    expect(PaymentRequiredV1Schema.safeParse(body).error).toBeUndefined();
    expect(PaymentRequiredV2Schema.safeParse(required).error).toBeUndefined();
  }
});

test('so does a 402 for a payment that failed, and its receipt', async () => {
  const { sandbox } = fixture();
  const poor = { sandbox, payer: await sandbox.createWallet({ usdc: '0' }) };
  const { v2 } = await signPayment(poor, `${url}/after`);
  const { answer, required } = await ask('/after', v2);
  const receipts = ['payment-response', 'x-payment-response'].map((name) => atob(answer.headers.get(name) ?? ''));
  const said = [await answer.json(), required, ...receipts.map((it) => JSON.parse(it))];
  expect([answer.status, nullsIn(said)]).toEqual([402, []]);
});

test('so do the answers of the facilitator', async () => {
  const { payer, sandbox } = fixture();
  const { accepted, transaction } = await signPayment({ sandbox, payer }, `${url}/after`);
  const payload = { transaction: Buffer.from(transaction).toString('base64') };
  const call = { paymentPayload: { x402Version: 2, accepted, payload }, paymentRequirements: accepted };
  const dear = { ...call, paymentRequirements: { ...accepted, amount: '10001' } };
  const said = [
    await answerTo('/supported'),
    await answerTo('/verify', dear),
    await answerTo('/settle', dear),
    await answerTo('/verify', call),
    await answerTo('/settle', call),
    await answerTo('/settle', call),
  ];
  expect(said).toMatchObject([
    { kinds: [{}, {}] },
    { isValid: false },
    { success: false },
    { isValid: true },
    { success: true },
    {},
  ]);
  expect(nullsIn(said)).toEqual([]);
});

test('so does discovery, but for the cursor behind the last page, which its own type wants to be null', async () => {
  const said = [await answerTo('/discovery/resources'), await answerTo('/.well-known/x402')];
  expect(nullsIn(said)).toEqual([]);
  expect(nullsIn(await answerTo('/discovery/search?query=after'))).toEqual(['/pagination/cursor']);
});

test('terms say that the money is taken upfront where it is, and nothing where it is taken after the work', async () => {
  for (const { path, flow, headers } of routes()) {
    const { accepts } = (await ask(path, headers)).required;
    for (const { extra } of accepts) expect([path, extra['paymentFlow']]).toEqual([path, flow]);
  }
});

test('discovery says so as well', async () => {
  const { newProject } = fixture();
  await newProject({ slug: 'listed', visibility: 'listed' });
  const { items } = (await answerTo('/discovery/resources')) as {
    items: { resource: string; accepts: { extra: Record<string, unknown> }[] }[];
  };
  const flows = items.map(({ resource, accepts }) => [new URL(resource).pathname, accepts[0]?.extra['paymentFlow']]);
  expect(flows).toEqual([
    ['/after', undefined],
    ['/before', 'upfront'],
    ['/v1/listed', 'upfront'],
  ]);
});

test('a payment of terms with another flow than is offered is taken: the flow is the seller’s', async () => {
  const { payer, sandbox } = fixture();
  const { accepted, v2 } = await signPayment({ sandbox, payer }, `${url}/before`);
  const { paymentFlow, ...extra } = { ...accepted.extra };
  const payload = JSON.parse(atob(v2['payment-signature'] ?? ''));
  const changed = encodeHeader({ ...payload, accepted: { ...accepted, extra } });
  const answer = await fetch(`${url}/before`, { headers: { 'payment-signature': changed } });
  expect([paymentFlow, answer.status]).toEqual(['upfront', 200]);
});

test('a page for browsers carries the same header, before a gate and before a project', async () => {
  for (const { path, headers } of routes()) {
    const { answer, required } = await ask(path, { ...headers, accept: BROWSER });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([402, 'text/html; charset=utf-8']);
    expect(required).toMatchObject({ x402Version: 2, resource: { url: url + path } });
    expect(required.accepts.length).toBeGreaterThan(0);
    expect(await answer.text()).toContain('<html');
  }
});
