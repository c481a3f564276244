import type { ServerResponse } from 'node:http';
import { type CallsOnCredit, newName, openCallsOnCredit } from '../../helpers/fixtures/calls-on-credit.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';

const MIB = 1024 * 1024;

describe.each(DAILY_DATABASES)('what names a call that was paid before, on %s', (...database) => {
  const fixture = useGatewayFixture(database, { limitScale: 100 });
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
