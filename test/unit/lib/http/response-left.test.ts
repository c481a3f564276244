import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { hasLeft } from '../../../../src/lib/http/response-left.js';

const server = createServer();
let client: Socket;

/** More than a connection holds that nobody reads. */
const MUCH = Buffer.alloc(64 * 1024 * 1024);

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => void server.close());
afterEach(() => void client.destroy());

/** A response that is still to be written, to a client that reads nothing of it until it is told to. */
function anResponse(): Promise<ServerResponse> {
  client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  client.on('error', () => {});
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  return new Promise((resolve) => void server.once('request', (_req, res) => resolve(res)));
}

test('an answer that is not written to its end has not left', async () => {
  const res = await anResponse();
  expect(hasLeft(res)).toBe(false);
  res.write('the first half');
  expect(hasLeft(res)).toBe(false);
});

test('an answer that was handed to the system as a whole has left', async () => {
  const res = await anResponse();
  res.end('all of it');
  await once(res, 'finish');
  expect(hasLeft(res)).toBe(true);
});

test('an answer has left though its connection was ended by this side after it', async () => {
  const res = await anResponse();
  res.setHeader('Connection', 'close').end('all of it');
  client.resume();
  await once(res, 'close');
  expect(hasLeft(res)).toBe(true);
});

test('an answer that nobody reads, and whose connection this side destroys, has not left', async () => {
  const res = await anResponse();
  res.end(MUCH);
  res.req.socket.destroy();
  await once(res, 'close');
  expect(hasLeft(res)).toBe(false);
});

test('an answer whose client goes away in the middle of it has not left', async () => {
  const res = await anResponse();
  res.end(MUCH);
  client.destroy();
  await once(res, 'close');
  expect(hasLeft(res)).toBe(false);
});
