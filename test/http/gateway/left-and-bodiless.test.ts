import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { type CallsOnCredit, openCallsOnCredit } from '../../helpers/fixtures/calls-on-credit.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { until } from '../../helpers/until.js';

const STREAMS = 4;

describe.each(DAILY_DATABASES)('on %s', (...database) => {
  const fixture = useGatewayFixture(database, { limitScale: 100 });
  let calls: CallsOnCredit;

  beforeEach(async () => {
    calls = await openCallsOnCredit(fixture(), (res) => void res.end('at once'));
  });

  test('streams that were asked for one behind the other end at the upstream when their caller hangs up', async () => {
    await calls.leaveCredit(STREAMS);
    const held: ServerResponse[] = [];
    fixture().upstream.respond((res) => {
      held.push(res);
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: begun\n\n');
    });
    const { host, hostname, port, pathname } = new URL(calls.url);
    const fields = Object.entries({ host, ...calls.caller.key.headers }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(`GET ${pathname} HTTP/1.1\r\n${fields.join('')}\r\n`.repeat(STREAMS));
    await until(() => held.length === STREAMS);
    socket.destroy();
    await until(() => held.every(({ closed }) => closed));
  });

  test.each([
    [304, 'GET'],
    [204, 'GET'],
    [200, 'HEAD'],
  ])(
    'a %i to a %s that declares the length of a body which it has not is whole, and is charged',
    async (status, method) => {
      await calls.leaveCredit();
      fixture().upstream.respond((res) => {
        // Node leaves the length out of a 204 of its own.
        res.socket?.end(`HTTP/1.1 ${status} So\r\nContent-Length: 1000\r\nETag: "1"\r\n\r\n`);
      });
      const headers = { ...calls.caller.key.headers, 'if-none-match': '"1"' };
      const answer = await fetch(calls.url, { method, headers });
      expect([answer.status, answer.headers.get('etag'), await answer.text()]).toEqual([status, '"1"', '']);
      await until(async () => (await calls.creditOf()).length === 0);
    },
  );
});
