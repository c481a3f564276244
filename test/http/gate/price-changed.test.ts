import { type ClientResponse, type MadeProject, proofHeader } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { transferDirectly } from '../../helpers/transactions/direct-transfer.js';

const fixture = useGatewayFixture();

interface Price {
  readonly amount: string;
  readonly token: 'USDC' | 'SOL';
}

const CENT: Price = { amount: '0.01', token: 'USDC' };
const FIVE: Price = { amount: '5', token: 'USDC' };
const UNITS = { USDC: 1_000_000, SOL: 1_000_000_000 };

const outcome = ({ status, body }: ClientResponse) => [status, body['code']];
const SERVED = [200, undefined];
const REFUSED = [403, 'spending_limit_reached'];

function callerWith(limit: string, token: Price['token']): Promise<Caller> {
  return fixture().newCaller({ spending: { limit, token, window: 'day' } });
}

function makeRequest(project: MadeProject, { key }: Caller, { amount, token }: Price): Promise<ClientResponse> {
  const wanted = { amount, token, recipient: project.split[0]?.recipient, project: project.slug };
  return fixture().client.ask('POST', '/create-payment', wanted, key.headers);
}

/** A request at the project's price, paid at once by its caller's wallet; answers the signature. */
async function paidRequest(project: MadeProject, caller: Caller, price: Price): Promise<string> {
  const { sandbox } = fixture();
  const { wallet } = caller;
  const { amount, token } = price;
  const recipient = String(project.split[0]?.recipient);
  const { status, body } = await makeRequest(project, caller, price);
  expect([status, body['detail']]).toEqual([200, undefined]);
  const legs = [{ recipient, amount: BigInt(Number(amount) * UNITS[token]) }];
  const names = [String(body['reference'])];
  return transferDirectly(sandbox, { wallet, legs, names, token: token === 'SOL' ? 'native' : token });
}

async function reprice({ id }: MadeProject, pricing: Price): Promise<void> {
  const { asOwner, client } = fixture();
  expect(outcome(await client.ask('PATCH', `/api/v1/projects/${id}`, { pricing }, asOwner))).toEqual(SERVED);
}

const show = ({ slug }: MadeProject, { key }: Caller, signature: string) =>
  fixture().client.call(slug, { headers: { ...key.headers, ...proofHeader(signature) } });

/** Pays at one price and calls at another. */
async function callAfter(caller: Caller, from: Price, to: Price): Promise<ClientResponse> {
  const project = await fixture().newProject({ pricing: from });
  const signature = await paidRequest(project, caller, from);
  await reprice(project, to);
  return show(project, caller, signature);
}

describe('a budget is asked for what is to be paid, whatever is asked for later', () => {
  test('a cent that is paid has room, though a call has become dearer than the budget', async () => {
    const caller = await callerWith('1', 'USDC');
    expect(outcome(await callAfter(caller, CENT, FIVE))).toEqual(SERVED);
    const { client } = fixture();
    const asCaller = await client.signIn(caller.wallet);
    const { body } = await client.ask('GET', `/api/v1/spending?key=${caller.key.id}`, undefined, asCaller);
    expect(body['budgets']).toMatchObject([{ used: '0.01', left: '0.99' }]);
  });

  test('five dollars have none, and no payment is made', async () => {
    const project = await fixture().newProject({ pricing: FIVE });
    const refused = await makeRequest(project, await callerWith('1', 'USDC'), FIVE);
    expect(outcome(refused)).toEqual(REFUSED);
    expect(refused.body['detail']).toContain('this call costs 5 USDC');
  });

  test('a token that the key has no limit for is not spent', async () => {
    const project = await fixture().newProject({ pricing: FIVE });
    const refused = await makeRequest(project, await callerWith('1', 'SOL'), FIVE);
    expect(outcome(refused)).toEqual(REFUSED);
    expect(refused.body['detail']).toBe('The service key may spend SOL only, and this call costs USDC.');
  });

  test('and one that it has a limit for is, though a call costs another one now', async () => {
    const caller = await callerWith('1', 'SOL');
    expect(outcome(await callAfter(caller, { amount: '0.1', token: 'SOL' }, CENT))).toEqual(SERVED);
  });
});

test('the upstream and the event are told the token that was paid', async () => {
  const { asOwner, client, newCaller, upstream } = fixture();
  const caller = await newCaller();
  const project = await fixture().newProject({ pricing: { amount: '0.1', token: 'SOL' } });
  const first = await paidRequest(project, caller, { amount: '0.1', token: 'SOL' });
  await reprice(project, FIVE);
  const second = await paidRequest(project, caller, FIVE);
  await reprice(project, CENT);
  for (const [signature, amount, amount_atomic, token] of [
    [first, '0.1', '100000000', 'SOL'],
    [second, '5', '5000000', 'USDC'],
  ] as const) {
    expect(outcome(await show(project, caller, signature))).toEqual(SERVED);
    const told = upstream.received.at(-1)?.headers;
    expect([told?.['x-tollhouse-amount'], told?.['x-tollhouse-token']]).toEqual([amount, token]);
    const path = `/api/v1/projects/${project.id}/calls?limit=1`;
    const listed = await client.ask('GET', path, undefined, asOwner);
    expect(listed.body['data']).toMatchObject([{ amount, token }]);
    expect(await eventOf(signature)).toMatchObject({ amount, amount_atomic, token });
  }
});

/** What the owner is told of the call that a transaction has paid for. */
async function eventOf(signature: string): Promise<unknown> {
  const { asOwner, client } = fixture();
  const { body } = await client.ask('GET', '/api/v1/events?types=call.succeeded', undefined, asOwner);
  const events = body['data'] as readonly { readonly data: Readonly<Record<string, unknown>> }[];
  return events.find(({ data }) => data['tx_signature'] === signature)?.data;
}
