import { once } from 'node:events';
import { Agent, request, type ServerResponse } from 'node:http';
import { type CallsOnCredit, newName, openCallsOnCredit, type Sent } from '../../helpers/fixtures/calls-on-credit.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { payingFetch } from '../../helpers/http/official-clients.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';

const MIB = 1024 * 1024;
const PRICE = 12_347n;

describe.each(DAILY_DATABASES)('a call with a long body, on %s', (...database) => {
  const fixture = useGatewayFixture(database, { keepsPasses: true, limitScale: 100 });
  let calls: CallsOnCredit;
  let served = 0;
  beforeEach(async () => {
    served = 0;
    const answers = (res: ServerResponse): void => {
      served += 1;
      res.end(`job ${served}`);
    };
    calls = await openCallsOnCredit(fixture(), answers);
  });

  const balance = () => {
    const { sandbox } = fixture();
    return sandbox.tokenBalance(calls.caller.wallet.publicKey.toBase58(), sandbox.tokens[0]!.mint);
  };

  // The client has the paid request follow on the connection of its 402, behind a body that may still be under way.
  test.each([1, 3, 9])('of %s MiB and a byte is paid for by the official client', async (mib) => {
    const { sandbox } = fixture();
    const official = await payingFetch({ wallet: calls.caller.wallet, rpcUrl: sandbox.rpcUrl });
    const { headers } = calls.caller.key;
    const before = balance();
    const body = Buffer.alloc(mib * MIB + 1, 'x');
    for (const [place, name] of [newName(), {}, newName()].entries()) {
      const init = { method: 'POST', body, headers: { ...headers, 'content-type': 'text/plain', ...name } };
      const response = await official(calls.url, init);
      expect([response.status, await response.text()]).toEqual([200, `job ${place + 1}`]);
    }
    expect(before - balance()).toBe(3n * PRICE);
  });

  test('that is larger than is taken is told so, by a client that pays for it, and costs nothing', async () => {
    const official = await payingFetch({ wallet: calls.caller.wallet, rpcUrl: fixture().sandbox.rpcUrl });
    const before = balance();
    const headers = { ...calls.caller.key.headers, 'content-type': 'text/plain', ...newName() };
    const response = await official(calls.url, { method: 'POST', body: Buffer.alloc(12 * MIB), headers });
    expect([response.status, JSON.parse(await response.text()).code, before - balance()]).toEqual([
      413,
      'body_too_large',
      0n,
    ]);
  });

  test('is told the price under an Idempotency-Key and leaves its connection usable', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async (method: string, path: string, headers: Sent = {}, body = Buffer.alloc(0)) => {
      const asked = request(fixture().client.url + path, { method, agent, headers });
      asked.end(body);
      const [response] = await once(asked, 'response');
      await once(response.resume(), 'end');
      return [response.statusCode, asked.reusedSocket];
    };
    const path = `/v1/${calls.project.slug}/job`;
    const body = Buffer.alloc(3 * MIB);
    const headers = {
      ...calls.caller.key.headers,
      'content-type': 'text/plain',
      'content-length': String(body.length),
    };
    expect(await ask('POST', path, { ...headers, ...newName() }, body)).toEqual([402, false]);
    expect(await ask('GET', '/supported')).toEqual([200, true]);
    agent.destroy();
  });
});
