import type { Socket } from 'node:net';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { ask, linesOf, openSocket, rawRequest } from '../../helpers/http/raw-http.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const MIB = 1024 * 1024;
/** More than the sockets of a connection hold. */
const LARGE = Buffer.alloc(24 * MIB, 'x');
/** What may be unread of all that gates hold and keep, together. */
const MOST = 256 * MIB;
/** More than that, though the sockets hold some of each. */
const CLIENTS = 18;
/** Tells that a response will not be read. */
const UNREAD = 'X-Unread: 1';

describe.each(DAILY_EXPRESSES)('responses that nobody reads, on a server of an author’s own, %s:', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let runs = 0;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, payTo } = fixture;
    const options = { facilitator, payTo, price: '$0.01', maxHeldBytes: 2 * LARGE.length };
    url = await fixture.serve((app) => {
      app.use((req, _res, next) => {
        if (req.headers['x-unread'] !== undefined) sockets.push(req.socket);
        next();
      });
      app.get('/held', requirePayment(options), (_req, res) => {
        runs += 1;
        res.send(LARGE);
      });
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    runs = 0;
    sockets.length = 0;
  });

  const isOpen = ({ destroyed }: Socket) => !destroyed;
  const unread = () => sockets.filter(isOpen).reduce((sum, { writableLength }) => sum + writableLength, 0);

  /** Asks on connections of their own, one after the other, and reads nothing. */
  async function askUnread(request: () => Promise<string>): Promise<Socket[]> {
    const clients: Socket[] = [];
    for (let count = 1; count <= CLIENTS; count += 1) {
      const client = openSocket(url).pause();
      client.on('error', () => undefined);
      clients.push(client);
      client.write(await request());
      await until(() => sockets.length === count && (sockets[count - 1]?.bytesWritten ?? 0) > 0);
    }
    return clients;
  }

  test('what is replayed to one payer is bounded, and he has it whole when he reads', async () => {
    const lines = linesOf((await signPayment(fixture, `${url}/held`)).v2);
    expect((await ask(url, 'GET /held', lines)).body.length).toBe(LARGE.length);
    sockets.length = 0;
    const clients = await askUnread(async () => rawRequest('GET /held', [...lines, UNREAD]));
    expect([unread() <= MOST, sockets.filter(isOpen).length < CLIENTS, isOpen(sockets.at(-1)!)]).toEqual([
      true,
      true,
      true,
    ]);
    expect((await ask(url, 'GET /held', lines)).body.length).toBe(LARGE.length);
    expect(runs).toBe(1);
    for (const client of clients) client.destroy();
  });

  test('what is held until it is paid is bounded, and can be had by who reads', async () => {
    const path = '/held';
    const paid: string[][] = [];
    const clients = await askUnread(async () => {
      paid.push(linesOf((await signPayment(fixture, url + path)).v2));
      return rawRequest(`GET ${path}`, [...(paid.at(-1) ?? []), UNREAD]);
    });
    expect([unread() <= MOST, sockets.filter(isOpen).length < CLIENTS]).toEqual([true, true]);
    for (const client of clients) client.destroy();
    let again = await ask(url, `GET ${path}`, paid[0]);
    while (again.status === 409) again = await ask(url, `GET ${path}`, paid[0]);
    expect([again.status, again.body.length]).toEqual([200, LARGE.length]);
  });
});
