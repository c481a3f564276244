import type { ServerResponse } from 'node:http';
import { type CallsOnCredit, newName, openCallsOnCredit, type Sent } from '../../helpers/fixtures/calls-on-credit.js';
import type { ClientResponse } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const PRICE = 12_347n;

describe.each(DAILY_DATABASES)('a call of a service key whose secret is rotated, on %s', (...database) => {
  const fixture = useGatewayFixture(database, { keepsPasses: true, settleTimeoutMs: 1_000, limitScale: 100 });
  let calls: CallsOnCredit;
  let name: Sent;
  let served = 0;
  const answers = (res: ServerResponse): void => {
    served += 1;
    res.end(`job ${served}`);
  };

  beforeEach(async () => {
    served = 0;
    name = newName();
    calls = await openCallsOnCredit(fixture(), answers);
  });
  afterEach(() => {
    fixture().sandbox.resumeSlots();
    jest.restoreAllMocks();
  });

  const pay = async (): Promise<Sent> => {
    const wallet = { sandbox: fixture().sandbox, payer: calls.caller.wallet };
    return (await signPayment(wallet, calls.url, { init: { method: 'POST', headers: calls.caller.key.headers } })).v2;
  };
  const prove = async (): Promise<Sent> => (await fixture().pay(calls)).header;
  const balance = () => {
    const { sandbox } = fixture();
    return sandbox.tokenBalance(calls.caller.wallet.publicKey.toBase58(), sandbox.tokens[0]!.mint);
  };
  const answerOf = ({ status, text, body }: ClientResponse) => (status < 400 ? text : [status, body['code']]);
  const calledAs = async (...sent: Parameters<CallsOnCredit['call']>) => answerOf(await calls.call(...sent));

  /** Its caller with the new secret; the old one stays good for a day. */
  async function rotated(): Promise<Caller> {
    const { client } = fixture();
    const { key, wallet } = calls.caller;
    const { status, body } = await client.ask('POST', `/api/v1/keys/${key.id}/rotate`, {}, await client.signIn(wallet));
    expect(status).toBe(200);
    const secret = String(body['api_secret']);
    return { ...calls.caller, key: { ...key, secret, headers: { ...key.headers, 'x-service-secret': secret } } };
  }

  test.each([
    ['x402', pay],
    ['a proof', prove],
  ])(
    'that %s has paid has its response by its Idempotency-Key and by its payment, with either secret',
    async (_, how) => {
      const [one, other] = [await how(), await pay()];
      const before = balance();
      expect(await calledAs({ ...one, ...name })).toBe('job 1');
      const paid = before - balance();
      const renewed = await rotated();
      for (const by of [renewed, calls.caller]) {
        for (const brought of [name, { ...one, ...name }, one, { ...other, ...name }]) {
          expect(await calledAs(brought, undefined, by)).toBe('job 1');
        }
      }
      expect(before - balance()).toBe(paid);
      expect(await calledAs({ ...other, ...newName() }, 'another job', renewed)).toBe('job 2');
    },
  );

  test('that has no name has its response by its payment, with either secret', async () => {
    const one = await pay();
    expect(await calledAs(one)).toBe('job 1');
    const renewed = await rotated();
    expect([await calledAs(one, undefined, renewed), await calledAs(one)]).toEqual(['job 1', 'job 1']);
  });

  test('whose money was on its way is served for it, and no other payment is taken', async () => {
    const [one, other, before] = [await pay(), await pay(), balance()];
    fixture().sandbox.pauseSlots();
    expect(await calledAs({ ...one, ...name })).toEqual([503, 'settlement_pending']);
    const renewed = await rotated();
    fixture().sandbox.resumeSlots();
    await until(() => balance() < before);
    let again = await calledAs({ ...other, ...name }, undefined, renewed);
    await until(async () => {
      fixture().advance(11_000);
      await fixture().facilitator.recover();
      if (again !== 'job 1') again = await calledAs({ ...other, ...name }, undefined, renewed);
      return again === 'job 1';
    });
    expect(await calledAs(one, undefined, renewed)).toBe('job 1');
    expect(before - balance()).toBe(PRICE);
  });

  test('whose response could be kept for its payment alone has it by its Idempotency-Key', async () => {
    const [one, other, before] = [await pay(), await pay(), balance()];
    jest.spyOn(fixture().storage.idempotency, 'finish').mockRejectedValue(new Error('is down'));
    expect(await calledAs({ ...one, ...name })).toBe('job 1');
    jest.restoreAllMocks();
    const renewed = await rotated();
    fixture().advance(600_000);
    expect(await calledAs(name, undefined, renewed)).toBe('job 1');
    expect(await calledAs({ ...other, ...name }, undefined, renewed)).toBe('job 1');
    expect(before - balance()).toBe(PRICE);
  });

  test('that credit has paid is charged once, and had by its Idempotency-Key or the payment that it came with', async () => {
    const [spent] = await calls.leaveCredit(2);
    expect([await calledAs(name), await calledAs(spent)]).toEqual(['job 1', 'job 2']);
    const renewed = await rotated();
    expect(await calledAs(name, undefined, renewed)).toBe('job 1');
    expect(await calledAs(spent, undefined, renewed)).toBe('job 2');
    expect(await calls.creditOf()).toEqual([]);
  });

  test('is made once where it comes with both secrets at once, each with a payment', async () => {
    const [one, other, before] = [await pay(), await pay(), balance()];
    const renewed = await rotated();
    const held: ServerResponse[] = [];
    fixture().upstream.respond((res) => void held.push(res));
    const first = calls.call({ ...one, ...name });
    await until(() => held.length === 1);
    expect((await calls.call({ ...other, ...name }, undefined, renewed)).status).toBe(409);
    answers(held[0]!);
    expect(answerOf(await first)).toBe('job 1');
    expect(await calledAs({ ...other, ...name }, undefined, renewed)).toBe('job 1');
    expect(before - balance()).toBe(PRICE);
  });

  test('is nobody else’s: another key of the same wallet has nothing by its Idempotency-Key or its payment', async () => {
    const one = await pay();
    expect(await calledAs({ ...one, ...name })).toBe('job 1');
    await rotated();
    const { client } = fixture();
    const key = await client.key(await client.signIn(calls.caller.wallet));
    for (const by of [{ ...calls.caller, key }, await fixture().newCaller()]) {
      expect(await calledAs(name, undefined, by)).toEqual([402, 'payment_required']);
      expect((await calls.call({ ...one, ...name }, undefined, by)).status).toBe(402);
      expect((await calls.call(one, undefined, by)).status).toBe(402);
    }
    expect(served).toBe(1);
  });
});
