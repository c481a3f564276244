import type { ServerResponse } from 'node:http';
import { createGateway } from '../../../src/gateway/create-gateway.js';
import type { Gateway } from '../../../src/gateway/gateway.js';
import { createRouter } from '../../../src/http/create-router.js';
import { createIdentity } from '../../../src/identity/create-identity.js';
import { type CallsOnCredit, openCallsOnCredit, type Sent } from '../../helpers/fixtures/calls-on-credit.js';
import { connectGateway } from '../../helpers/fixtures/gateway-client.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';

const [KEY, NEXT] = ['k'.repeat(32), 'n'.repeat(32)];
/** What a program may well call its first job. */
const GUESSED: Sent = { 'idempotency-key': '1' };

describe.each(DAILY_DATABASES)('a response of a call that was kept with a SECRETS_KEY, on %s', (...database) => {
  const fixture = useGatewayFixture(database, { keepsPasses: true, secretsKey: KEY });
  const others: Gateway[] = [];
  let calls: CallsOnCredit;
  let served = 0;
  afterEach(async () => void (await Promise.all(others.splice(0).map((it) => it.close()))));

  /** The same books behind another server. */
  async function callsWith(...secretsKey: readonly string[]) {
    const { facilitator, storage, serve } = fixture();
    const allowPrivateNetworks = ['127.0.0.0/8'];
    const gateway = createGateway({ facilitator, storage, allowPrivateNetworks, secretsKey });
    others.push(gateway);
    const identity = createIdentity({ facilitator, jwtSecret: SECRET });
    const url = await serve((app) => app.use(createRouter({ facilitator, gateway, identity, limits: false })));
    const { call } = await connectGateway(url);
    const { project, caller } = calls;
    return async (sent: Sent) => {
      const headers = { ...caller.key.headers, ...sent };
      const { status, text, body } = await call(`${project.slug}/job`, {
        method: 'POST',
        body: 'what is asked',
        headers,
      });
      return status < 400 ? text : [status, body['code']];
    };
  }

  beforeEach(async () => {
    served = 0;
    const answers = (res: ServerResponse): void => {
      served += 1;
      res.end(`job ${served}`);
    };
    calls = await openCallsOnCredit(fixture(), answers);
  });

  const prove = async (): Promise<Sent> => (await fixture().pay(calls)).header;

  test('is opened while that is changed, by servers that have both', async () => {
    const paid = await prove();
    expect((await calls.call({ ...paid, ...GUESSED })).text).toBe('job 1');
    for (const keys of [
      [KEY, NEXT],
      [NEXT, KEY],
    ]) {
      const call = await callsWith(...keys);
      expect([await call(GUESSED), await call(paid)]).toEqual(['job 1', 'job 1']);
    }
  });

  test('is opened by nobody who has its database alone, though its Idempotency-Key is guessed; nothing is charged meanwhile', async () => {
    const [paid, other] = [await prove(), await prove()];
    expect((await calls.call({ ...paid, ...GUESSED })).text).toBe('job 1');
    for (const keys of [[NEXT], []]) {
      const call = await callsWith(...keys);
      const closed = [503, 'store_unavailable'];
      expect([await call(GUESSED), await call(paid), await call({ ...other, ...GUESSED })]).toEqual(
        Array(3).fill(closed),
      );
    }
    expect(served).toBe(1);
    expect((await calls.call({ ...other, 'idempotency-key': '2' })).text).toBe('job 2');
  });

  test('from before there was one is opened', async () => {
    const paid = await prove();
    const before = await callsWith();
    expect(await before({ ...paid, ...GUESSED })).toBe('job 1');
    expect([(await calls.call(GUESSED)).text, (await calls.call(paid)).text]).toEqual(['job 1', 'job 1']);
  });
});
