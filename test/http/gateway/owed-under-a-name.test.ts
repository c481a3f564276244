import type { ServerResponse } from 'node:http';
import { TollhouseError } from '../../../src/errors/errors.js';
import { type CallsOnCredit, newName, openCallsOnCredit, type Sent } from '../../helpers/fixtures/calls-on-credit.js';
import type { ClientResponse } from '../../helpers/fixtures/gateway-client.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const PRICE = 12_347n;
const NOT_YET = [503, 'settlement_pending'];

describe.each(DAILY_DATABASES)('a call whose money has moved under its Idempotency-Key, on %s', (...database) => {
  const fixture = useGatewayFixture(database, { keepsPasses: true, settleTimeoutMs: 1_000 });
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
    fixture().sandbox.faults.clear();
    fixture().sandbox.resumeSlots();
    jest.restoreAllMocks();
  });

  const pay = async (): Promise<Sent> => {
    const wallet = { sandbox: fixture().sandbox, payer: calls.caller.wallet };
    return (await signPayment(wallet, calls.url, { init: { method: 'POST', headers: calls.caller.key.headers } })).v2;
  };
  const balance = () => {
    const { sandbox } = fixture();
    return sandbox.tokenBalance(calls.caller.wallet.publicKey.toBase58(), sandbox.tokens[0]!.mint);
  };
  const answerOf = ({ status, text, body }: ClientResponse) => (status < 400 ? text : [status, body['code']]);
  const calledAs = async (...sent: Parameters<CallsOnCredit['call']>) => answerOf(await calls.call(...sent));

  /** Has the chain go on, and what was sent looked after, until the call is not told to wait. */
  async function calledInTheEnd(...sent: Parameters<CallsOnCredit['call']>): Promise<ClientResponse> {
    let again = await calls.call(...sent);
    await until(async () => {
      fixture().sandbox.advanceSlots(40);
      fixture().advance(11_000);
      await fixture().facilitator.recover();
      if (again.status === 503) again = await calls.call(...sent);
      return again.status !== 503;
    });
    return again;
  }

  test('is served for its payment once that has landed, whatever comes under the key, and no other is charged', async () => {
    const [before, one, other] = [balance(), await pay(), await pay()];
    fixture().sandbox.pauseSlots();
    expect(await calledAs({ ...one, ...name })).toEqual(NOT_YET);
    expect(await calledAs(name)).toEqual(NOT_YET);
    expect(await calledAs({ ...other, ...name })).toEqual(NOT_YET);
    fixture().sandbox.resumeSlots();
    const again = await calledInTheEnd({ ...other, ...name });
    expect(answerOf(again)).toBe('job 1');
    expect(again.headers.get('payment-response')).toMatch(/./);
    expect([await calledAs(name), await calledAs({ ...one, ...name }), await calledAs(one)]).toEqual(
      Array(3).fill('job 1'),
    );
    expect(balance()).toBe(before - PRICE);
    expect(await calledAs({ ...other, ...newName() }, 'another job')).toBe('job 2');
  });

  test('is served by its key alone where there was no room for it', async () => {
    calls = await openCallsOnCredit(fixture(), answers, { limits: { concurrent: 2 } });
    const before = balance();
    const held: ServerResponse[] = [];
    fixture().upstream.respond((res) => void held.push(res));
    const names = [name, newName()];
    const paid = [await pay(), await pay()];
    // Half of the places are one wallet's.
    const both = names.map((it, n) => calls.call({ ...paid[n], ...it }));
    expect(answerOf(await Promise.race(both))).toEqual([429, 'rate_limited']);
    await until(() => held.length > 0);
    fixture().upstream.respond(answers);
    answers(held[0]!);
    const [first] = await Promise.all(both);
    const [, turnedAway] = first!.status === 200 ? names : names.toReversed();
    expect(await calledAs({ ...(await pay()), ...turnedAway })).toBe('job 2');
    expect(await calledAs(turnedAway)).toBe('job 2');
    expect([balance(), await calls.creditOf()]).toEqual([before - 2n * PRICE, []]);
  });

  test('is served for a proof that there was no room for', async () => {
    const { header } = await fixture().pay(calls);
    const before = balance();
    const full = new TollhouseError('rate_limited', 'It is full.', { retryAfterSeconds: 1 });
    jest.spyOn(fixture().gateway.calls, 'enter').mockRejectedValueOnce(full);
    expect(await calledAs({ ...header, ...name })).toEqual([429, 'rate_limited']);
    expect(await calledAs({ ...(await pay()), ...name })).toBe('job 1');
    expect(await calledAs(header)).toBe('job 1');
    expect(balance()).toBe(before);
  });

  test('has bought one pass where the store has failed, and brings its token', async () => {
    const offers = [{ amount: '0.05', token: 'USDC', pass: { uses: 4 } }];
    calls = await openCallsOnCredit(fixture(), answers, { pricing: { offers } });
    const [before, one, other] = [balance(), await pay(), await pay()];
    jest.spyOn(fixture().facilitator.passes, 'findByPayment').mockRejectedValueOnce(new Error('is down'));
    expect((await calls.call({ ...one, ...name })).status).toBe(500);
    const again = await calls.call({ ...other, ...name });
    expect([answerOf(again), again.headers.get('access-pass-remaining')]).toEqual(['job 1', '3']);
    expect(again.headers.get('access-pass')).toMatch(/./);
    expect(balance()).toBe(before - 50_000n);
  });

  test('leaves its key to another payment where the first can land no more', async () => {
    const { sandbox } = fixture();
    const [before, one] = [balance(), await pay()];
    sandbox.faults.add({ kind: 'drop', method: 'sendTransaction' });
    expect(await calledAs({ ...one, ...name })).toEqual(NOT_YET);
    expect(await calledAs(name)).toEqual(NOT_YET);
    sandbox.faults.clear();
    sandbox.expireBlockhashes();
    expect((await calledInTheEnd(name)).status).toBe(402);
    expect([balance(), served]).toEqual([before, 0]);
    expect(await calledAs({ ...(await pay()), ...name })).toBe('job 1');
    expect(await calledAs(name)).toBe('job 1');
    expect(balance()).toBe(before - PRICE);
  });

  test('is paid by the credit that it has left where its key could not be freed', async () => {
    const [before, paid] = [balance(), await pay()];
    fixture().upstream.respond((res) => void res.writeHead(500).end());
    const { idempotency } = fixture().storage;
    jest.spyOn(idempotency, 'abandon').mockRejectedValue(new Error('is down'));
    expect((await calls.call({ ...paid, ...name })).status).toBe(500);
    jest.restoreAllMocks();
    fixture().upstream.respond(answers);
    fixture().advance(600_000);
    expect([await calledAs(name), await calledAs(name), balance()]).toEqual(['job 1', 'job 1', before - PRICE]);
    expect(await calls.creditOf()).toEqual([]);
  });

  test('is nobody else’s, and no other request’s', async () => {
    const one = await pay();
    const before = balance();
    fixture().sandbox.pauseSlots();
    expect(await calledAs({ ...one, ...name })).toEqual(NOT_YET);
    fixture().sandbox.resumeSlots();
    await until(() => balance() < before);
    expect(await calledAs(name, 'another job')).toEqual([422, 'idempotency_key_reused']);
    expect((await calls.call(name, undefined, await fixture().newCaller())).status).toBe(402);
    expect(served).toBe(0);
  });
});
