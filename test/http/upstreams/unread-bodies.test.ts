import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type Caller, type GatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { buyPass } from '../../helpers/http/passes.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';

const ANSWER = 'all of it';
const WITH_BODY = { method: 'POST', body: 'that nobody reads' };
/** As systems do with a connection that is closed while something of it is unread. */
const reset = (socket: Socket) => void socket.resetAndDestroy();
const end = (socket: Socket) => void socket.end();

describe.each(DAILY_DATABASES)('an answer without length, on %s', (name, openDatabase) => {
  const opened = useGatewayFixture([name, openDatabase], { keepsPasses: true });
  const sockets: Socket[] = [];
  let fixture: GatewayFixture;
  let caller: Caller;
  let server: Server;

  beforeAll(async () => {
    fixture = opened();
    server = createServer((socket) => {
      sockets.push(socket.on('error', () => undefined));
      socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${ANSWER}`));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => void server.close());
  beforeEach(async () => {
    caller = await fixture.newCaller();
  });

  async function newAddress(more: object = {}) {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const project = await fixture.newProject({ upstream: { url }, ...more });
    return { project, at: `${fixture.client.url}/v1/${project.slug}` };
  }

  /** What a caller reads, with whom the upstream leaves the connection so when he has it all. */
  async function read({ status, body }: Response, leave: (socket: Socket) => void): Promise<unknown> {
    if (status >= 400 || body === null) return status;
    let text = '';
    try {
      for await (const chunk of body) {
        text += Buffer.from(chunk).toString();
        if (text === ANSWER) for (const socket of sockets.splice(0)) leave(socket);
      }
      return text;
    } catch {
      return 'broken';
    }
  }

  /** What two calls get of which the first alone is paid for. */
  async function twoCalls(sent: RequestInit, leave: (socket: Socket) => void): Promise<readonly unknown[]> {
    const { project, at } = await newAddress();
    const { header } = await fixture.pay({ project, caller });
    const first = await fetch(at, { ...sent, headers: { ...caller.key.headers, ...header } });
    const got = await read(first, leave);
    return [got, await read(await fetch(at, { ...sent, headers: caller.key.headers }), leave)];
  }

  test.each(['POST', 'PUT'])(
    'to a %s with a body that nobody reads is paid for, though it is reset',
    async (method) => {
      expect(await twoCalls({ ...WITH_BODY, method }, reset)).toEqual([ANSWER, 402]);
    },
  );

  test.each(['GET', 'POST'])('to a %s without a body has cost nothing when it is reset', async (method) => {
    expect(await twoCalls({ method }, reset)).toEqual(['broken', 'broken']);
  });

  test.each([{ method: 'GET' }, WITH_BODY])('is paid for when its connection ends: %j', async (sent) => {
    expect(await twoCalls(sent, end)).toEqual([ANSWER, 402]);
  });

  test('takes a use of a pass by each call with a body that is reset, and none without', async () => {
    const offers = [{ amount: '0.05', token: 'USDC', pass: { uses: 3 } }];
    const { at } = await newAddress({ pricing: { offers } });
    const { key, wallet: payer } = caller;
    const { token, paid } = await buyPass({ sandbox: fixture.sandbox, payer }, at, { headers: key.headers });
    await read(paid, end);
    const got = [];
    for (const sent of [{}, WITH_BODY, {}, WITH_BODY, WITH_BODY]) {
      const answer = await fetch(at, { ...sent, headers: { ...key.headers, ...token } });
      got.push([answer.headers.get('access-pass-remaining'), await read(answer, reset)]);
    }
    expect(got).toEqual([
      ['1', 'broken'],
      ['1', ANSWER],
      ['0', 'broken'],
      ['0', ANSWER],
      [null, 402],
    ]);
  });
});
