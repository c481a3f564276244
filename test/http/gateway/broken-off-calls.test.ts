import type { ServerResponse } from 'node:http';
import { TollhouseError } from '../../../src/errors/errors.js';
import { type CallsOnCredit, newName, openCallsOnCredit, type Sent } from '../../helpers/fixtures/calls-on-credit.js';
import type { ClientResponse } from '../../helpers/fixtures/gateway-client.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { signPayment } from '../../helpers/transactions/payments.js';

const PRICE = 12_347n;
const BROKEN_OFF = [503, 'call_broken_off'];

describe.each(DAILY_DATABASES)('a paid call that was broken off at each try, on %s', (...database) => {
  const fixture = useGatewayFixture(database, { keepsPasses: true, limitScale: 100 });
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
  afterEach(() => void jest.restoreAllMocks());

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

  /** Its money lands, there is no room for it, and it has come again as often as any may. */
  async function brokenOff(sent: Sent): Promise<void> {
    const full = new TollhouseError('rate_limited', 'It is full.', { retryAfterSeconds: 1 });
    jest.spyOn(fixture().gateway.calls, 'enter').mockRejectedValueOnce(full);
    expect(await calledAs(sent)).toEqual([429, 'rate_limited']);
    jest.spyOn(fixture().storage.ledger, 'runAgain').mockResolvedValue(false);
  }

  test.each([
    ['x402', pay],
    ['a proof', prove],
  ])(
    'by %s has left its price, that pays it when it comes again, by its Idempotency-Key alone as well',
    async (_, how) => {
      const paid = await how();
      const before = balance();
      await brokenOff({ ...paid, ...name });
      const told = await calls.call({ ...paid, ...name });
      expect(answerOf(told)).toEqual(BROKEN_OFF);
      expect(told.headers.get('access-credit')).toMatch(/^0\.012347 USDC was not charged/);
      expect(told.headers.get('x-service-error')).toBe('gateway');
      expect(await calls.creditOf()).toEqual(['0.012347']);
      expect([await calledAs(name), await calledAs(name), await calledAs({ ...paid, ...name })]).toEqual(
        Array(3).fill('job 1'),
      );
      expect(await calls.creditOf()).toEqual([]);
      expect(before - balance()).toBe(how === pay ? PRICE : 0n);
    },
  );

  test('has left it once, though the books were away at first', async () => {
    const [paid, before] = [await pay(), balance()];
    await brokenOff(paid);
    const { book } = fixture().storage.gateway;
    const finish = jest
      .spyOn(book, 'finish')
      .mockRejectedValueOnce(new TollhouseError('store_unavailable', 'It is down.'));
    expect(await calledAs(paid)).toEqual([503, 'store_unavailable']);
    expect([finish.mock.calls.length, await calls.creditOf()]).toEqual([1, []]);
    fixture().upstream.respond((res) => void res.writeHead(500).end('sorry'));
    expect(await calledAs(paid)).toEqual(BROKEN_OFF);
    for (let n = 0; n < 3; n += 1) expect((await calls.call(paid)).status).toBe(500);
    expect([await calls.creditOf(), before - balance()]).toEqual([['0.012347'], PRICE]);
  });

  test('has left its place to whoever holds its payment by now, and no credit', async () => {
    const paid = await pay();
    await brokenOff(paid);
    jest.spyOn(fixture().storage.gateway.book, 'finish').mockResolvedValueOnce(false);
    expect(await calledAs(paid)).toEqual([409, 'payment_in_progress']);
    expect(await calls.creditOf()).toEqual([]);
    expect(await calledAs(paid)).toEqual(BROKEN_OFF);
    expect(await calls.creditOf()).toEqual(['0.012347']);
  });

  test('has given back what it had taken of the pass that it bought', async () => {
    const offers = [{ amount: '0.05', token: 'USDC', pass: { uses: 4 } }];
    calls = await openCallsOnCredit(fixture(), answers, { pricing: { offers } });
    const [paid, before] = [await pay(), balance()];
    await brokenOff(paid);
    const told = await calls.call(paid);
    expect([answerOf(told), told.headers.get('access-pass-remaining')]).toEqual([BROKEN_OFF, '4']);
    const again = await calls.call({ 'access-pass': told.headers.get('access-pass') ?? '' });
    expect([answerOf(again), again.headers.get('access-pass-remaining')]).toEqual(['job 1', '3']);
    expect([before - balance(), await calls.creditOf()]).toEqual([50_000n, []]);
  });

  test('is run again for its payment, and leaves nothing, where it may be', async () => {
    const [paid, before] = [await pay(), balance()];
    await brokenOff(paid);
    jest.restoreAllMocks();
    expect([await calledAs(paid), await calledAs(paid)]).toEqual(['job 1', 'job 1']);
    expect([await calls.creditOf(), before - balance()]).toEqual([[], PRICE]);
  });
});
