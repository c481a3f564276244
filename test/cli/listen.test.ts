import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import { type EventFrame, readEventFrames } from '../../src/cli/seller/event-frames.js';
import { followEvents } from '../../src/cli/seller/follow-events.js';
import { createForwarder } from '../../src/cli/seller/forward-events.js';
import { keepSignIn } from '../../src/cli/session/credentials.js';
import { openSession } from '../../src/cli/session/session.js';
import { verifyWebhook } from '../../src/gateway/webhooks/verify-webhook.js';
import { newWebhookSecret } from '../../src/gateway/webhooks/webhook-signature.js';
import { type CliFixture, openCliFixture } from '../helpers/fixtures/cli-fixture.js';
import { startReceiver, status } from '../helpers/http/webhook-receiver.js';
import { runFile, stopFiles } from '../helpers/processes/run-file.js';
import { until } from '../helpers/until.js';

async function* chunksOf(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const size of sizes) {
    yield bytes.subarray(at, at + size);
    at += size;
  }
  yield bytes.subarray(at);
}

async function framesOf(text: string, sizes: readonly number[] = []): Promise<EventFrame[]> {
  const found: EventFrame[] = [];
  for await (const frame of readEventFrames(chunksOf(Buffer.from(text), sizes))) found.push(frame);
  return found;
}

describe('a stream of events', () => {
  const TEXT =
    'retry: 2000\nid: evt_1\n: connected\n\n: still here\n\nid: evt_2\nevent: a\ndata: {"a":"ü→𝄞"}\n\r\n\nid:evt_3\r\ndata\r\n\r\ndata: x\ndata:  y\n\ndata: cut off';
  const FRAMES = [
    { id: 'evt_1', data: undefined, retryMs: 2000 },
    { id: undefined, data: undefined, retryMs: undefined },
    { id: 'evt_2', data: '{"a":"ü→𝄞"}', retryMs: undefined },
    { id: 'evt_3', data: '', retryMs: undefined },
    { id: undefined, data: 'x\n y', retryMs: undefined },
  ];

  test('is read frame by frame, as the standard has it', async () => {
    expect(await framesOf(TEXT)).toEqual(FRAMES);
  });

  test('is the same in whatever pieces it comes', async () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 100 });
    await fc.assert(fc.asyncProperty(sizes, async (pieces) => expect(await framesOf(TEXT, pieces)).toEqual(FRAMES)));
  });

  test('with a line that has no end is given up', async () => {
    await expect(framesOf(`data: ${'x'.repeat(2_000_000)}`)).rejects.toThrow('has no end');
  });
});

describe('tollhouse webhooks listen', () => {
  let fixture: CliFixture;
  let url: string;

  beforeAll(async () => {
    fixture = await openCliFixture();
    url = fixture.server.url;
    await fixture.run('login', '--demo', '--server', url);
  });
  afterAll(async () => {
    stopFiles();
    await fixture.close();
  });

  test('prints events as they come, posts them signed, and ends when it is told to', async () => {
    const receiver = await startReceiver();
    const child = runFile('src/cli/main.ts', ['webhooks', 'listen', '--json', '--forward', receiver.url]);
    const lines: string[] = [];
    const notes: string[] = [];
    createInterface({ input: child.stdout ?? process.stdin }).on('line', (line) => lines.push(line));
    createInterface({ input: child.stderr ?? process.stdin }).on('line', (line) => notes.push(line));
    let hasEnded = false;
    const ended = new Promise<void>((resolve) => child.once('close', resolve)).then(() => {
      hasEnded = true;
    });
    const untilHeard = async (holds: () => boolean) => {
      await until(() => hasEnded || holds());
      if (!holds()) throw new Error(`it ended: ${notes.join('\n')}`);
    };
    await untilHeard(() => notes.some((it) => it.startsWith('listening at')));
    const [, secret = ''] = /signed with (whsec_\S+)/.exec(notes.join('\n')) ?? [];

    await fixture.run('keys', 'create', '--name', 'heard');
    await untilHeard(() => receiver.received.length > 0);
    const [message] = receiver.received;
    if (message === undefined) throw new Error('nothing was posted');
    const check = verifyWebhook(message, secret);
    expect(check).toMatchObject({ ok: true, event: { type: 'key.created', data: { name: 'heard' } } });
    expect(verifyWebhook(message, newWebhookSecret())).toMatchObject({ ok: false });
    expect(JSON.parse(lines[0] ?? '')).toEqual(check.ok && check.event);
    await untilHeard(() => notes.some((it) => /→ 204 in \d+ ms/.test(it)));

    child.kill('SIGINT');
    await ended;
    await receiver.close();
  });

  test('shows only what was asked for; a project that is not there is told', async () => {
    await expect(fixture.run('webhooks', 'listen', '--types', 'no.such')).resolves.toMatchObject({
      code: 1,
      text: expect.stringContaining('must be types of events'),
    });
    await expect(fixture.run('webhooks', 'listen', '--project', 'none')).resolves.toMatchObject({ code: 1 });
  });

  test('a receiver that fails or is away ends nothing', async () => {
    const event = { id: 'evt_1', type: 'a', timestamp: 't', project_id: null, data: {} };
    const receiver = await startReceiver(status(500));
    const forwarder = createForwarder(receiver.url, newWebhookSecret());
    expect(await forwarder.forward(event)).toMatch(/^500 in/);
    await receiver.close();
    expect(await forwarder.forward(event)).toMatch(/^no answer in .*ECONNREFUSED/);
    expect(() => createForwarder(receiver.url, 'short')).toThrow('WEBHOOK_SECRET must be');
  });
});

describe('a stream that breaks', () => {
  const event = (id: string) =>
    `id: ${id}\ndata: ${JSON.stringify({ id, type: 'a', timestamp: 't', project_id: null, data: {} })}\n\n`;
  let fixture: CliFixture;

  beforeAll(async () => {
    fixture = await openCliFixture();
  });
  afterAll(() => fixture.close());

  /** Follows a server whose streams are as given, one after the other; ends with the last one. */
  async function follow(newest: readonly string[], streams: readonly ((res: ServerResponse) => void)[]) {
    const stop = new AbortController();
    const asked: (string | undefined)[] = [];
    const server = createServer((req, res) => {
      if (req.url === '/api/v1/events?limit=1')
        return void res.end(JSON.stringify({ data: newest.map((id) => ({ id })) }));
      asked.push(req.headers['last-event-id']?.toString());
      const answer = streams[asked.length - 1];
      if (answer === undefined) stop.abort();
      else answer(res);
    }).listen(0, '127.0.0.1');
    await until(() => server.listening);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    keepSignIn(url, { wallet: 'w', access_token: 'a', refresh_token: 'r', expires_at: Number.MAX_SAFE_INTEGER });
    const seen: string[] = [];
    const notes: string[] = [];
    const followed = followEvents(openSession(url), {
      query: new URLSearchParams(),
      signal: stop.signal,
      onEvent: async ({ id }) => void seen.push(id),
      onConnected: () => notes.push('connected'),
      onInterrupted: (reason) => notes.push(reason),
    });
    await followed.finally(() => {
      server.close();
      server.closeAllConnections();
    });
    return { asked, seen, notes };
  }

  test('goes on after the last event that was seen, and says only what is out of the ordinary', async () => {
    const { asked, seen, notes } = await follow(
      ['evt_0'],
      [
        (res) => void res.end(`retry: 1\nid: evt_1\n\n${event('evt_2')}`),
        (res) => {
          res.write(event('evt_3'));
          setImmediate(() => res.destroy());
        },
        (res) =>
          void res.writeHead(503, { 'content-type': 'application/json' }).end('{"code":"stopping","detail":"d"}'),
        (res) => void res.end(event('evt_4')),
      ],
    );
    expect(seen).toEqual(['evt_2', 'evt_3', 'evt_4']);
    expect(asked).toEqual(['evt_0', 'evt_2', 'evt_3', 'evt_3', 'evt_4']);
    expect(notes[0]).toBe('connected');
    expect(notes.at(-1)).toBe('connected');
    expect(notes.slice(1, -1)).toEqual([
      expect.stringContaining('connecting again in'),
      expect.stringContaining('stopping: d'),
    ]);
  });

  test('where nothing had happened yet, goes on from the beginning', async () => {
    const { asked } = await follow([], [(res) => void res.end('retry: 1\n\n')]);
    expect(asked).toEqual(['evt_0', 'evt_0']);
  });

  test('a refusal that would come again ends it', async () => {
    const refuse = (res: ServerResponse) =>
      void res.writeHead(403, { 'content-type': 'application/json' }).end('{"code":"insufficient_scope","detail":"d"}');
    await expect(follow([], [refuse])).rejects.toThrow('insufficient_scope: d');
  });
});
