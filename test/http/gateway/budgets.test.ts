import { CALL_PRICE, type ClientResponse, type MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import type { Respond } from '../../helpers/http/webhook-receiver.js';
import { createGate, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const fixture = useGatewayFixture();

const answers: Respond = (res) => void res.end('paid for');
const fails: Respond = (res) => void res.writeHead(500).end('secret trouble');

beforeEach(() => fixture().upstream.respond(answers));

const outcome = ({ status, body }: ClientResponse) => [status, body['code']];

/** Calls a project with the fixture's key, unless other headers are given, until no earlier call holds the payment. */
async function call({ slug }: MadeProject, headers: ProofHeaders): Promise<ClientResponse> {
  const sent = { headers: { ...fixture().key.headers, ...headers } };
  let answer = await fixture().client.call(slug, sent);
  while (answer.status === 409) answer = await fixture().client.call(slug, sent);
  return answer;
}

describe('the budget of a key', () => {
  const PRICE = 0.012347;
  const HOUR = 3_600_000;
  const REFUSED = [403, 'spending_limit_reached'];

  /** A caller who may spend so many calls a day. */
  const callerFor = (calls: number): Promise<Caller> =>
    fixture().newCaller({ spending: { limit: (PRICE * calls).toFixed(6), token: 'USDC', window: 'day' } });

  /** Payments of x402 for a project, signed and not sent. */
  async function signedBy(caller: Caller, project: MadeProject, count: number): Promise<readonly ProofHeaders[]> {
    const { client, sandbox } = fixture();
    const url = `${client.url}/v1/${project.slug}`;
    const sign = async () =>
      (await signPayment({ sandbox, payer: caller.wallet }, url, { init: { headers: caller.key.headers } })).v2;
    return Promise.all(Array.from({ length: count }, sign));
  }

  test('for three calls, ten paid at once through x402: exactly three', async () => {
    const caller = await callerFor(3);
    const { project, sandbox } = fixture();
    const payments = await signedBy(caller, project, 10);
    const held = () => sandbox.tokenBalance(caller.wallet.publicKey.toBase58(), sandbox.tokens[0]!.mint);
    const [before, money] = [fixture().hits(), held()];
    const show = (payment: ProofHeaders) => call(project, { ...payment, ...caller.key.headers });
    const all = await Promise.all(payments.map(show));
    expect(all.filter(({ status }) => status === 200)).toHaveLength(3);
    const others = all.filter(({ status }) => status !== 200).map(outcome);
    expect(others).toEqual(Array.from({ length: 7 }, () => [403, 'spending_limit_reached']));
    expect([fixture().hits() - before, money - held()]).toEqual([3, 3n * CALL_PRICE]);

    const again = await Promise.all(payments.map(show));
    expect(again.filter((it) => it.headers.get('idempotency-replayed') === 'true')).toHaveLength(3);
    expect(fixture().hits() - before).toBe(3);
  });

  test('for three calls, ten payment requests at once: exactly three are made, and what is paid is served', async () => {
    const caller = await callerFor(3);
    const { client, project } = fixture();
    const asked = { amount: '0.012347', token: 'USDC', recipient: project.split[0]?.recipient, project: project.slug };
    const make = () => client.ask('POST', '/create-payment', asked, caller.key.headers);
    const made = await Promise.all(Array.from({ length: 10 }, make));
    const codes = made.filter(({ status }) => status !== 200).map(outcome);
    expect(codes).toEqual(Array.from({ length: 7 }, () => [403, 'spending_limit_reached']));
    const ids = made.filter(({ status }) => status === 200).map(({ body }) => body['payment_id']);
    expect(new Set(ids).size).toBe(3);
  });

  test('counts what is paid and not called yet, and what is paid is served', async () => {
    const caller = await callerFor(3);
    const { client, project } = fixture();
    const paid = [await fixture().pay({ caller }), await fixture().pay({ caller })];
    const [payment] = await signedBy(caller, project, 1);
    const show = (header: ProofHeaders) => call(project, { ...header, ...caller.key.headers });
    expect((await show(payment!)).status).toBe(200);
    const asked = { amount: '0.012347', token: 'USDC', recipient: project.split[0]?.recipient, project: project.slug };
    expect(outcome(await client.ask('POST', '/create-payment', asked, caller.key.headers))).toEqual([
      403,
      'spending_limit_reached',
    ]);
    for (const { header } of paid) expect((await show(header)).status).toBe(200);
    expect((await show(paid[0]!.header)).headers.get('idempotency-replayed')).toBe('true');
  });

  test('counts what left the wallet: credit given is spent, and spends nothing more', async () => {
    const caller = await callerFor(1);
    const project = await fixture().newProject();
    const by = { caller, project };
    const good = await fixture().pay(by);
    const next = { header: (await signedBy(caller, project, 1))[0]! };
    const foreign = await fixture().pay({ project });
    const show = ({ header = {} }: { readonly header?: ProofHeaders }) =>
      call(project, { ...header, ...caller.key.headers });
    expect(outcome(await show(foreign))).toEqual([402, 'payment_invalid']);
    expect(outcome(await show({ header: { 'x-service-payment': 'AAAA' } }))).toEqual([400, 'invalid_payment_header']);
    fixture().upstream.respond(fails);
    expect((await show(good)).status).toBe(500);
    expect(outcome(await show(next))).toEqual([403, 'spending_limit_reached']);
    const spent = async () =>
      (await fixture().client.ask('GET', '/api/v1/spending', undefined, caller.key.headers)).body;
    const [usedUp, credit] = [
      { used_atomic: String(CALL_PRICE), left_atomic: '0' },
      { project_id: project.id, key_id: caller.key.id, amount_atomic: String(CALL_PRICE), token: 'USDC' },
    ];
    const totals = [{ amount_atomic: String(CALL_PRICE), token: 'USDC', calls: 1 }];
    expect(await spent()).toMatchObject({ totals, budgets: [usedUp], credit: [credit] });
    expect((await show({})).status).toBe(500);
    fixture().upstream.respond(answers);
    expect((await show({})).status).toBe(200);
    await until(async () => (await spent())['credit']?.toString() === '');
    expect(await spent()).toMatchObject({ totals, budgets: [usedUp], credit: [] });
    expect(outcome(await show(next))).toEqual([403, 'spending_limit_reached']);
  });

  test('counts what has landed and found no room, until somebody comes again for it; what never was sent ends', async () => {
    const spending = { limit: (PRICE * 1.5).toFixed(6), token: 'USDC', window: 'total' };
    const callers = [await fixture().newCaller({ spending }), await fixture().newCaller({ spending })];
    const project = await fixture().newProject({ limits: { concurrent: 1 } });
    const leave = createGate();
    fixture().upstream.respond((res) => void leave.opened.then(() => res.end('paid for')));
    const calls = callers.map(async (caller) => {
      const [first, second] = await signedBy(caller, project, 2);
      const show = (payment: ProofHeaders = {}) => call(project, { ...payment, ...caller.key.headers });
      const shown = show(first);
      void shown.then(({ status }) => status === 429 && leave.open());
      return { caller, status: (await shown).status, again: () => show(first), other: () => show(second) };
    });
    const [lucky, late] = (await Promise.all(calls)).sort((a, b) => a.status - b.status);
    expect([lucky?.status, late?.status]).toEqual([200, 429]);
    const { client, project: another } = fixture();
    const ask = () => client.ask('POST', '/create-payment', { project: another.slug }, late?.caller.key.headers);

    fixture().advance(HOUR);
    await fixture().storage.gateway.prune(0, 100, 0);
    expect([outcome(await late!.other()), outcome(await ask())]).toEqual([REFUSED, REFUSED]);
    expect((await late!.again()).status).toBe(200);
    expect([outcome(await late!.other()), outcome(await ask())]).toEqual([REFUSED, REFUSED]);

    // The honest twin: a request that nobody pays.
    const careless = await fixture().newCaller({ spending });
    const request = () => client.ask('POST', '/create-payment', { project: another.slug }, careless.key.headers);
    expect([(await request()).status, outcome(await request())]).toEqual([200, REFUSED]);
    fixture().advance(HOUR);
    expect((await request()).status).toBe(200);
  });
});
