import type { ServerResponse } from 'node:http';
import { type CallsOnCredit, newName, openCallsOnCredit, type Sent } from '../../helpers/fixtures/calls-on-credit.js';
import type { ClientResponse } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const PRICE = 12_347n;
const PASS = { offers: [{ amount: '0.05', token: 'USDC', pass: { uses: 4 } }] };
const PASS_PRICE = 50_000n;
const PENDING = [503, 'settlement_pending'];
const DOWN = new Error('is down');

describe.each(DAILY_DATABASES)('one Idempotency-Key, of which something went wrong, on %s', (...database) => {
  const fixture = useGatewayFixture(database, { keepsPasses: true, settleTimeoutMs: 1_000, limitScale: 100 });
  let calls: CallsOnCredit;
  let caller: Caller;
  let name: Sent;
  let served = 0;
  const answers = (res: ServerResponse): void => {
    served += 1;
    res.end(`job ${served}`);
  };

  /** @param spending - the budget of the caller's key */
  async function open(wanted: Readonly<Record<string, unknown>> = {}, spending?: Readonly<Record<string, string>>) {
    served = 0;
    name = newName();
    calls = await openCallsOnCredit(fixture(), answers, wanted);
    caller = spending === undefined ? calls.caller : await fixture().newCaller({ spending });
  }
  afterEach(() => {
    fixture().sandbox.faults.clear();
    fixture().sandbox.resumeSlots();
    jest.restoreAllMocks();
  });

  const pay = async (): Promise<Sent> => {
    const wallet = { sandbox: fixture().sandbox, payer: caller.wallet };
    return (await signPayment(wallet, calls.url, { init: { method: 'POST', headers: caller.key.headers } })).v2;
  };
  const balance = () => {
    const { sandbox } = fixture();
    return sandbox.tokenBalance(caller.wallet.publicKey.toBase58(), sandbox.tokens[0]!.mint);
  };
  const answerOf = ({ status, text, body }: ClientResponse) => (status < 400 ? text : [status, body['code']]);
  const calledAs = async (sent: Sent, body?: string) => answerOf(await calls.call(sent, body, caller));

  const isToWait = (answer: unknown): boolean => Array.isArray(answer) && [409, 503].includes(answer[0]);

  /** Has what was sent looked after until the call is not told to wait. */
  async function calledInTheEnd(sent: Sent) {
    let again = await calledAs(sent);
    await until(async () => {
      if (!isToWait(again)) return true;
      fixture().advance(11_000);
      await fixture().facilitator.recover();
      again = await calledAs(sent);
      return false;
    });
    return again;
  }

  test.each([-32_002, -32_005])(
    'is the payment’s that no node has taken, code %s, for as long as that may land: no other is charged beside it',
    async (code) => {
      await open();
      const [before, one, other] = [balance(), await pay(), await pay()];
      fixture().sandbox.pauseSlots();
      fixture().sandbox.faults.add({ kind: 'error', method: 'sendTransaction', code });
      const first = await calls.call({ ...one, ...name }, undefined, caller);
      fixture().sandbox.faults.clear();
      const meanwhile = [await calledAs({ ...other, ...name }), await calledAs(name)];
      fixture().sandbox.resumeSlots();
      expect([first.status, ...meanwhile]).toEqual([503, PENDING, PENDING]);
      expect(await calledInTheEnd({ ...one, ...name })).toBe('job 1');
      expect([await calledAs(name), await calledAs({ ...other, ...name }), before - balance()]).toEqual([
        'job 1',
        'job 1',
        PRICE,
      ]);
      // It is good for another call.
      expect([await calledAs({ ...other, ...newName() }, 'another'), before - balance()]).toEqual([
        'job 2',
        2n * PRICE,
      ]);
    },
  );

  test('asks the chain what became of its payment, whoever comes under it, and waits for no recovery', async () => {
    await open();
    jest.spyOn(fixture().storage.ledger, 'takeUnresolved').mockResolvedValue([]);
    const [before, one, other] = [balance(), await pay(), await pay()];
    fixture().sandbox.pauseSlots();
    expect([await calledAs({ ...one, ...name }), await calledAs(name)]).toEqual([PENDING, PENDING]);
    fixture().sandbox.resumeSlots();
    let again: unknown = PENDING;
    await until(async () => {
      again = await calledAs(name);
      return !isToWait(again);
    });
    expect([again, await calledAs({ ...other, ...name }), before - balance()]).toEqual(['job 1', 'job 1', PRICE]);
  });

  test('is of no payment that could not be sent at all, and takes another one', async () => {
    await open();
    const [before, one, other] = [balance(), await pay(), await pay()];
    jest.spyOn(fixture().storage.ledger, 'recordBroadcast').mockRejectedValueOnce(DOWN);
    expect((await calls.call({ ...one, ...name }, undefined, caller)).status).toBe(500);
    expect([await calledAs({ ...other, ...name }), before - balance()]).toEqual(['job 1', PRICE]);
  });

  test.each([
    ['a call', {}, PRICE],
    ['a pass', { pricing: PASS }, PASS_PRICE],
  ])(
    'is made for the payment of %s whose caller has left while its money landed, and no other is charged',
    async (_what, wanted, price) => {
      await open(wanted);
      const [before, one, other] = [balance(), await pay(), await pay()];
      fixture().sandbox.pauseSlots();
      const sending = jest.spyOn(fixture().storage.ledger, 'recordBroadcast');
      const asked = calls.begin({ ...one, ...name });
      await until(() => sending.mock.calls.length === 1);
      asked.destroy();
      // Whatever is sent after it finds that the line is down.
      for (let n = 0; n < 3; n += 1) await fixture().client.ask('GET', '/supported');
      fixture().sandbox.resumeSlots();
      await until(() => balance() < before);
      expect(await calledInTheEnd({ ...other, ...name })).toBe('job 1');
      expect([await calledAs(name), before - balance(), served, await calls.creditOf()]).toEqual([
        'job 1',
        price,
        1,
        [],
      ]);
    },
  );

  test.each(['before', 'after'])(
    'has its response though the books fail once, %s they have written it',
    async (when) => {
      await open();
      const [before, one, other] = [balance(), await pay(), await pay()];
      const { book } = fixture().storage.gateway;
      const finish = book.finish.bind(book);
      jest.spyOn(book, 'finish').mockImplementationOnce(async (...what) => {
        if (when === 'after') await finish(...what);
        throw DOWN;
      });
      const got = [await calledAs({ ...one, ...name }), await calledAs({ ...other, ...name }), await calledAs(name)];
      expect([got, before - balance()]).toEqual([['job 1', 'job 1', 'job 1'], PRICE]);
    },
  );

  test('has its response whatever is left of the budget, and what is brought with it meanwhile takes nothing of that', async () => {
    await open({}, { limit: '0.037041', token: 'USDC', window: 'total' });
    const [before, one, two, three] = [balance(), await pay(), await pay(), await pay()];
    fixture().sandbox.pauseSlots();
    const meanwhile = [
      await calledAs({ ...one, ...name }),
      await calledAs({ ...two, ...name }),
      await calledAs({ ...three, ...name }),
    ];
    fixture().sandbox.resumeSlots();
    await until(() => balance() < before);
    expect([meanwhile, await calledInTheEnd(name)]).toEqual([[PENDING, PENDING, PENDING], 'job 1']);
    const paidFor = async (body: string) => calledAs({ ...(await pay()), ...newName() }, body);
    expect([await paidFor('second'), await paidFor('third')]).toEqual(['job 2', 'job 3']);
    expect(await paidFor('fourth')).toEqual([403, 'spending_limit_reached']);
    expect([await calledAs({ ...two, ...name }), await calledAs(name)]).toEqual(['job 1', 'job 1']);
  });

  test('buys one pass, though its first call fails: its payer is told of that, whatever he brings', async () => {
    await open({ pricing: PASS });
    const [before, one, other] = [balance(), await pay(), await pay()];
    fixture().upstream.respond((res) => void res.writeHead(500).end('sorry'));
    expect((await calls.call({ ...one, ...name }, undefined, caller)).status).toBe(500);
    fixture().upstream.respond(answers);
    for (const sent of [name, { ...other, ...name }]) {
      const told = await calls.call(sent, undefined, caller);
      expect([answerOf(told), told.headers.get('access-pass-remaining')]).toEqual([[402, 'payment_already_used'], '4']);
      expect(told.body['detail']).toContain('do not pay again');
    }
    expect(before - balance()).toBe(PASS_PRICE);
  });

  test('is not begun anew because the clock has jumped, while its payment is about to be sent', async () => {
    await open();
    const [before, one, other] = [balance(), await pay(), await pay()];
    const { ledger } = fixture().storage;
    const recordBroadcast = ledger.recordBroadcast.bind(ledger);
    const meanwhile: unknown[] = [];
    jest.spyOn(ledger, 'recordBroadcast').mockImplementationOnce(async (...what) => {
      fixture().advance(120_000);
      meanwhile.push(await calledAs({ ...other, ...name }), await calledAs(name));
      return recordBroadcast(...what);
    });
    // Whoever looks after what dead processes leave may take the payment back meanwhile: then nothing is sent.
    expect(['job 1', [409, 'payment_in_progress']]).toContainEqual(await calledAs({ ...one, ...name }));
    const running = [409, 'idempotency_in_progress'];
    expect([meanwhile, await calledAs({ ...other, ...name }), before - balance()]).toEqual([
      [running, running],
      'job 1',
      PRICE,
    ]);
  });

  test('is not run twice because the clock has jumped while credit pays it', async () => {
    await open();
    await calls.leaveCredit(2);
    const held: ServerResponse[] = [];
    fixture().upstream.respond((res) => void held.push(res));
    const first = calledAs(name);
    await until(() => held.length === 1);
    fixture().advance(120_000);
    expect(await calledAs(name)).toEqual([409, 'idempotency_in_progress']);
    answers(held[0]!);
    expect([await first, await calledAs(name), served]).toEqual(['job 1', 'job 1', 1]);
  });
});
