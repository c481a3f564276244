import type { Response } from 'express';
import { onceOver } from '../../../../src/lib/http/connection-events.js';
import { type AppServer, serveApp } from '../../../helpers/http/app-server.js';
import { collect, openSocket, rawRequest } from '../../../helpers/http/raw-http.js';
import { until } from '../../../helpers/until.js';

let app: AppServer;
let responses: Response[] = [];

beforeAll(async () => {
  app = await serveApp((it) => it.use((_req, res) => void responses.push(res)));
});
beforeEach(() => {
  responses = [];
});
afterAll(() => app.close());

async function open(requests: number) {
  const client = openSocket(app.url);
  client.write(rawRequest('GET /').repeat(requests));
  await until(() => responses.length === requests);
  return client;
}

test('a response is over once: when it has left, when its connection goes, and when it is over already', async () => {
  const client = await open(3);
  const over: string[] = [];
  for (const [n, res] of responses.entries()) onceOver(res, () => over.push(`asked before: ${n}`));
  responses[0]?.end('all of it');
  await until(() => over.length > 0);
  expect(over).toEqual(['asked before: 0']);
  const { socket } = responses[0]!.req;
  client.destroy();
  await until(() => socket.closed);
  expect(over.sort()).toEqual([0, 1, 2].map((n) => `asked before: ${n}`));
  const late = responses.map((res) => new Promise<void>((resolve) => void onceOver(res, resolve)));
  await Promise.all(late);
  expect(over).toHaveLength(3);
});

test('nobody is told who has said that he need not be', async () => {
  const client = await open(2);
  const told = jest.fn();
  for (const res of responses) onceOver(res, told)();
  const { socket } = responses[0]!.req;
  client.destroy();
  await until(() => socket.closed);
  onceOver(responses[0]!, told)();
  await new Promise(setImmediate);
  expect(told).not.toHaveBeenCalled();
});

test('a connection and a response have one listener more for all that wait on them, and a connection none when they are over', async () => {
  const client = await open(40);
  const { socket } = responses[0]!.req;
  const before = socket.listenerCount('close');
  const own = responses[0]!.listenerCount('close');
  for (const res of responses) for (let n = 0; n < 5; n += 1) onceOver(res, () => {});
  expect(socket.listenerCount('close')).toBe(before + 1);
  expect(responses[0]!.listenerCount('close')).toBe(own + 1);
  client.end();
  const heard = collect(client);
  for (const res of responses) res.end('all of it');
  await heard;
  await until(() => responses.every(({ closed }) => closed));
  expect(socket.listenerCount('close')).toBeLessThan(before + 1);
});
