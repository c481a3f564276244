import type { ServerResponse } from 'node:http';
import { type CallsOnCredit, newName, openCallsOnCredit, type Sent } from '../../helpers/fixtures/calls-on-credit.js';
import type { ClientResponse } from '../../helpers/fixtures/gateway-client.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const MIB = 1024 * 1024;

describe.each(DAILY_DATABASES)('a call with an Idempotency-Key that a payment pays, on %s', (...database) => {
  const fixture = useGatewayFixture(database, { keepsPasses: true, limitScale: 100 });
  let calls: CallsOnCredit;
  let name: Sent;
  let served = 0;
  const answers = (res: ServerResponse): void => {
    served += 1;
    res.writeHead(200, { 'x-number': String(served) }).end(`job ${served}`);
  };

  beforeEach(async () => {
    served = 0;
    name = newName();
    calls = await openCallsOnCredit(fixture(), answers);
  });

  const payer = () => ({ sandbox: fixture().sandbox, payer: calls.caller.wallet });
  const ways: Readonly<Record<string, () => Promise<Sent>>> = {
    x402: async () => {
      const init = { method: 'POST', headers: calls.caller.key.headers };
      return (await signPayment(payer(), calls.url, { init })).v2;
    },
    'a proof': async () => (await fixture().pay(calls)).header,
  };
  const answerOf = ({ status, text, headers, body }: ClientResponse) =>
    status < 400 ? [text, headers.get('idempotency-replayed')] : [status, body['code']];
  const calledAs = async (...sent: Parameters<CallsOnCredit['call']>) => answerOf(await calls.call(...sent));

  const hadAgain = () => until(async () => (await calls.call(name)).headers.get('idempotency-replayed') === 'true');

  test('takes the share of the wallet that has paid, whose key soever names it', async () => {
    const { sandbox, storage } = fixture();
    const buyer = await sandbox.createWallet({ usdc: '1' });
    const init = { method: 'POST', headers: calls.caller.key.headers };
    const { v2 } = await signPayment({ sandbox, payer: buyer }, calls.url, { init });
    expect(await calledAs({ ...v2, ...name })).toEqual(['job 1', null]);
    await hadAgain();
    const owners = {
      name: 'test_owners',
      text: 'select distinct owner from tollhouse_answer where answer is not null',
    };
    const known = (await storage.database.query(owners)).map((row) => String(row['owner']));
    const ofBoth = (it: string) => [buyer, calls.caller.wallet].some(({ publicKey }) => it.includes(String(publicKey)));
    expect(known.filter(ofBoth)).toEqual([`wallet ${buyer.publicKey}`]);
  });

  describe.each(Object.entries(ways))('by %s', (_way, pay) => {
    test('is had again by its key alone, with its receipt, and with another payment, which stays good', async () => {
      const [one, other] = [await pay(), await pay()];
      const first = await calls.call({ ...one, ...name });
      expect(answerOf(first)).toEqual(['job 1', null]);
      const again = await calls.call(name);
      expect(answerOf(again)).toEqual(['job 1', 'true']);
      for (const header of ['x-number', 'payment-response']) {
        expect(again.headers.get(header)).toBe(first.headers.get(header));
      }
      expect(await calledAs({ ...other, ...name })).toEqual(['job 1', 'true']);
      expect(await calledAs({ ...one, ...name })).toEqual(['job 1', 'true']);
      expect(await calledAs(one)).toEqual(['job 1', 'true']);
      expect(await calledAs({ ...other, ...newName() }, 'another job')).toEqual(['job 2', null]);
      expect(await calls.creditOf()).toEqual([]);
    });

    test('is made once where it comes with two payments at once', async () => {
      const held: ServerResponse[] = [];
      fixture().upstream.respond((res) => void held.push(res));
      const [one, other] = [await pay(), await pay()];
      const under = [one, other].map((it) => calls.call({ ...it, ...name }));
      const early = await Promise.race(under);
      expect(answerOf(early)).toEqual([409, 'idempotency_in_progress']);
      await until(() => held.length > 0);
      answers(held[0]!);
      const texts = (await Promise.all(under)).map(({ text, status }) => (status === 200 ? text : ''));
      expect(texts.toSorted()).toEqual(['', 'job 1']);
      for (const it of [one, other]) expect(await calledAs({ ...it, ...name })).toEqual(['job 1', 'true']);
      // The other one is good without it.
      fixture().upstream.respond(answers);
      const alone = [await calledAs(one), await calledAs(other)];
      expect(alone.toSorted()).toEqual([
        ['job 1', 'true'],
        ['job 2', null],
      ]);
      expect([held.length, served]).toEqual([1, 2]);
    });

    test('is had though its line went down before the response', async () => {
      const paid = await pay();
      await calls.loseLine({ ...paid, ...name });
      await hadAgain();
      expect(await calledAs({ ...paid, ...name })).toEqual(['job 1', 'true']);
      expect([served, await calls.creditOf()]).toEqual([1, []]);
    });

    test('is had whole though its line went down in the middle of the response', async () => {
      const paid = await pay();
      const text = 'x'.repeat(MIB / 2);
      let rest: () => void = () => undefined;
      fixture().upstream.respond((res) => {
        res.writeHead(200).write(text);
        rest = () => res.end(text);
      });
      const asked = calls.begin({ ...paid, ...name });
      await new Promise((resolve) => asked.on('response', (response) => response.once('data', resolve)));
      asked.destroy();
      for (let n = 0; n < 3; n += 1) await fixture().client.ask('GET', '/supported');
      rest();
      await hadAgain();
      expect((await calls.call(name)).text).toBe(text + text);
      expect(await calls.creditOf()).toEqual([]);
    });

    test('has left its key free, and its price, where it has failed', async () => {
      fixture().upstream.respond((res) => void res.writeHead(500).end('sorry'));
      expect((await calls.call({ ...(await pay()), ...name })).status).toBe(500);
      fixture().upstream.respond(answers);
      expect((await calls.creditOf()).length).toBe(1);
      expect(await calledAs(name)).toEqual(['job 1', null]);
      expect(await calledAs(name)).toEqual(['job 1', 'true']);
      expect(await calls.creditOf()).toEqual([]);
    });

    test('has its key for no other request, and for nobody else', async () => {
      const [one, other] = [await pay(), await pay()];
      await calls.call({ ...one, ...name });
      expect(await calledAs({ ...other, ...name }, 'another job')).toEqual([422, 'idempotency_key_reused']);
      expect(await calledAs(name, 'another job')).toEqual([422, 'idempotency_key_reused']);
      const stranger = await fixture().newCaller();
      expect((await calls.call(name, undefined, stranger)).status).toBe(402);
      expect(await calledAs(other, 'another job')).toEqual(['job 2', null]);
    });

    test('is had by its key though its response could be kept for its payment alone', async () => {
      const finish = jest.spyOn(fixture().storage.idempotency, 'finish').mockRejectedValueOnce(new Error('is down'));
      expect(await calledAs({ ...(await pay()), ...name })).toEqual(['job 1', null]);
      finish.mockRestore();
      expect(await calledAs(name)).toEqual(['job 1', 'true']);
      expect(await calledAs({ ...(await pay()), ...name })).toEqual(['job 1', 'true']);
    });

    test('leaves its key free where its response is too long to be kept, and is told why it is not had again', async () => {
      fixture().upstream.respond((res) => void res.end('x'.repeat(MIB + 1)));
      const paid = { ...(await pay()), ...name };
      expect((await calls.call(paid)).text.length).toBe(MIB + 1);
      const detail = expect.stringMatching(/for this very request, and its response is not kept: .* at most 1 MiB/);
      expect((await calls.call(paid)).body).toMatchObject({ code: 'payment_already_used', detail });
      fixture().upstream.respond(answers);
      expect((await calls.call(name)).status).toBe(402);
      expect(await calledAs({ ...(await pay()), ...name })).toEqual(['job 1', null]);
    });
  });

  test('is had again by its key though another call would be free', async () => {
    calls = await openCallsOnCredit(fixture(), answers, { free_calls: { count: 5, window: '24h' } });
    const proof = await ways['a proof']!();
    expect(await calledAs({ ...proof, ...name })).toEqual(['job 1', null]);
    expect(await calledAs(name)).toEqual(['job 1', 'true']);
    expect(await calledAs(newName())).toEqual(['job 2', null]);
  });

  test('and that a pass could pay as well is charged to one of them', async () => {
    const offers = [{ amount: '0.05', token: 'USDC', pass: { uses: 4 } }];
    const pricing = { amount: '0.01', token: 'USDC', offers };
    calls = await openCallsOnCredit(fixture(), answers, { pricing });
    const init = { method: 'POST', headers: calls.caller.key.headers };
    const sign = async (choice: number) => (await signPayment(payer(), calls.url, { init, choice })).v2;
    const [one, other, pack] = [await sign(0), await sign(0), await sign(1)];
    expect(await calledAs({ ...one, ...name })).toEqual(['job 1', null]);
    const bought = await calls.call(pack);
    const pass = { 'access-pass': bought.headers.get('access-pass') ?? '' };
    expect(await calledAs({ ...pass, ...name })).toEqual(['job 1', 'true']);
    const another = newName();
    const byPass = await calls.call({ ...pass, ...another });
    expect([byPass.text, byPass.headers.get('access-pass-remaining')]).toEqual(['job 3', '2']);
    expect(await calledAs({ ...other, ...another })).toEqual(['job 3', 'true']);
    expect(served).toBe(3);
  });

  test('brings the token of the pass that it has bought again to whoever brings the payment', async () => {
    const pricing = { offers: [{ amount: '0.05', token: 'USDC', pass: { uses: 4 } }] };
    calls = await openCallsOnCredit(fixture(), answers, { pricing });
    const paid = { ...(await ways['x402']!()), ...name };
    expect((await calls.call(paid)).headers.get('access-pass')).toMatch(/./);
    const again = await calls.call(paid);
    expect(answerOf(again)).toEqual(['job 1', 'true']);
    expect(again.headers.get('access-pass')).toMatch(/./);
    const unpaid = await calls.call(name);
    expect([...answerOf(unpaid), unpaid.headers.get('access-pass')]).toEqual(['job 1', 'true', null]);
  });
});
