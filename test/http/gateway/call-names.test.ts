import type { ServerResponse } from 'node:http';
import { type CallsOnCredit, newName, openCallsOnCredit, type Sent } from '../../helpers/fixtures/calls-on-credit.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { buyPass } from '../../helpers/http/passes.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';

const MIB = 1024 * 1024;

describe.each(DAILY_DATABASES)('what names a call that was paid before, on %s', (...database) => {
  const fixture = useGatewayFixture(database, { keepsPasses: true, limitScale: 100 });
  let calls: CallsOnCredit;
  let served = 0;
  const answers = (res: ServerResponse): void => {
    served += 1;
    res.end(`job ${served}`);
  };

  beforeEach(async () => {
    served = 0;
    calls = await openCallsOnCredit(fixture(), answers);
  });

  const textsOf = async (...asked: Parameters<CallsOnCredit['call']>[]) => {
    const texts: string[] = [];
    for (const one of asked) texts.push((await calls.call(...one)).text);
    return texts;
  };

  test('an empty Idempotency-Key names none: each call is made, and is charged', async () => {
    await calls.leaveCredit(3);
    const empty = { 'idempotency-key': '' };
    expect(await textsOf([empty, 'one'], [empty, 'other'], [empty, 'other'])).toEqual(['job 1', 'job 2', 'job 3']);
    expect(await calls.creditOf()).toEqual([]);
  });

  test('beside an empty Idempotency-Key the payment that it comes with does', async () => {
    const [payment] = await calls.leaveCredit(3);
    const sent = { ...payment, 'idempotency-key': '' };
    expect(await textsOf([sent], [sent], [payment])).toEqual(['job 1', 'job 1', 'job 1']);
    expect(await calls.creditOf()).toEqual(['0.024694']);
  });

  test('a call that a used-up pass does not cover leaves nothing behind, whatever it is named', async () => {
    const pricing = { offers: [{ amount: '0.05', token: 'USDC', pass: { uses: 1 } }] };
    calls = await openCallsOnCredit(fixture(), answers, { pricing });
    const payer = { sandbox: fixture().sandbox, payer: calls.caller.wallet };
    const { token } = await buyPass(payer, calls.url, { method: 'POST', headers: calls.caller.key.headers });
    const rows = async (table: string) =>
      (await fixture().storage.database.query({ name: `test_rows_${table}`, text: `select * from ${table}` })).length;
    const left = async () => [await rows('tollhouse_pass_debit'), await rows('tollhouse_answer')];
    const before = await left();
    for (let n = 0; n < 3; n += 1) expect((await calls.call({ ...(token as Sent), ...newName() })).status).toBe(402);
    expect([await left(), served]).toEqual([before, 1]);
  });

  test('its response was paid for, and goes behind those that were not where there is no room', async () => {
    const [payment] = await calls.leaveCredit(2);
    const query = { name: 'test_paid_calls', text: 'select goes_first from tollhouse_answer where answer is not null' };
    const before = (await fixture().storage.database.query(query)).length;
    expect(await textsOf([newName()], [payment])).toEqual(['job 1', 'job 2']);
    const kept = await fixture().storage.database.query(query);
    expect(kept.length).toBeGreaterThan(before);
    expect(kept.map((row) => Number(row['goes_first']))).toEqual(kept.map(() => 0));
  });

  test('nothing names one whose body is longer than what is compared, and the longest that is compared has its name', async () => {
    const [payment] = await calls.leaveCredit(6);
    const [short, long] = [newName(), newName()];
    const longest = Buffer.alloc(MIB, 'x');
    const [one, other] = [Buffer.alloc(MIB + 1, 'x'), Buffer.alloc(MIB + 1, 'x')];
    other.write('y', MIB);
    expect(await textsOf([short, longest], [short, longest])).toEqual(['job 1', 'job 1']);
    expect(await textsOf([long, one], [long, other], [long, one])).toEqual(['job 2', 'job 3', 'job 4']);
    expect(await textsOf([payment, one], [payment, other])).toEqual(['job 5', 'job 6']);
    expect(await calls.creditOf()).toEqual([]);
  });
});
