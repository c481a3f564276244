// A seller's server that tests kill and start again. A process of its own, on nothing but what an app can import. What it
// does is told on standard output, synchronously, so that it is told even where nothing can be done after it.
import { writeSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import express, { type Request, type RequestHandler } from 'express';
import { chargeCredit, createFacilitator, createRouter, openStorage, requirePayment } from '../../../src/index.js';

const { SELLER_DATABASE = '', SELLER_RPC = '', SELLER_KEYPAIR = '', SELLER_PAY_TO: payTo = '' } = process.env;
const { SELLER_CONTROL = '', SELLER_LEASE_MS = '', SELLER_PASS_USES = '5', SELLER_REFUND_KEYPAIR } = process.env;
const RECOVER_EVERY_MS = 500;
/** More than the buffers between a server and a client that does not read. */
const LARGE_BYTES = 16 * 1024 * 1024;

const tell = (line: string): void => void writeSync(1, `${line}\n`);

/** Tells the test that a handler has come so far, and waits until it may go on. */
async function passOn(point: string, path: string): Promise<void> {
  await (await fetch(`${SELLER_CONTROL}/${point}${path}`)).arrayBuffer();
}

const storage = await openStorage(SELLER_DATABASE);
const facilitator = createFacilitator({
  network: 'solana-devnet',
  rpcUrl: SELLER_RPC,
  // A call that the test holds back must not end by itself.
  rpcTimeoutMs: 120_000,
  keypair: SELLER_KEYPAIR,
  storage,
  leaseMs: Number(SELLER_LEASE_MS),
  ...(SELLER_REFUND_KEYPAIR === undefined ? {} : { refunds: { keypair: SELLER_REFUND_KEYPAIR } }),
});
const gated = { facilitator, payTo, price: '$0.01', maxHeldBytes: 2 * LARGE_BYTES, handlerTimeoutMs: 120_000 } as const;

/** Stops the whole process, where asked to, when the money is booked and nothing is answered yet. */
function stopIfAsked(req: Request): void {
  tell(`settled ${req.path}`);
  if (req.get('x-stop') !== undefined) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

const answer: RequestHandler = async (req, res) => {
  await passOn('run', req.path);
  if (req.path.endsWith('/answering')) return void res.send(Buffer.alloc(LARGE_BYTES, 'x'));
  res.send('paid');
};

const answerInParts: RequestHandler = async (req, res) => {
  await passOn('run', req.path);
  res.write('pa');
  await passOn('half', req.path);
  res.end('id');
};

const app = express();
app.use((req, _res, next) => {
  tell(`arrived ${req.path}`);
  next();
});
const stoppable = { ...gated, onSettled: ({ req }: { readonly req: Request }) => stopIfAsked(req) };
app.get('/after/:what', requirePayment(stoppable), answer);
app.get('/before/:what', requirePayment({ ...stoppable, settle: 'before' }), answerInParts);
app.get('/pass/:what', requirePayment({ ...stoppable, pass: { uses: Number(SELLER_PASS_USES) } }), answer);
const covered = requirePayment({ ...gated, pass: { uses: Number(SELLER_PASS_USES) } });
app.get('/covered/:how', covered, (req, res) => {
  const { how } = req.params;
  if (how === 'fail') return void res.status(503).send('not now');
  if (how === 'throw') throw new Error('a handler that fails, as it was asked to');
  if (how !== 'break') return void res.send('covered');
  res.write('the first half');
  setImmediate(() => res.destroy());
});
const metered = requirePayment({
  ...{ ...gated, settle: 'before' },
  pass: { credit: true, cost: '$0.001', stream: true, group: 'metered' },
});
app.get('/metered/:what', metered, async (req, res) => {
  await passOn('run', req.path);
  await chargeCredit(req, 2_000n);
  await passOn('half', req.path);
  res.send('metered');
});
app.get('/failing/:what', requirePayment({ ...gated, settle: 'before' }), (_req, res) => {
  res.status(503).send('not now');
});
app.get('/again/:what', requirePayment({ ...gated, settle: 'before' }), async (req, res) => {
  await passOn('run', req.path);
  if (req.get('x-fail') !== undefined) return void res.status(503).send('not now');
  res.send('paid');
});
app.post('/refund/:payment', async (req, res) => {
  res.json(await facilitator.refund(req.params.payment));
});
app.use(createRouter({ facilitator, limits: false }));

const recover = async (): Promise<void> => {
  await facilitator.recover().catch((error: unknown) => tell(`recovery failed: ${String(error)}`));
  setTimeout(recover, RECOVER_EVERY_MS);
};
void recover();
// A test that is killed leaves nothing behind.
process.stdin.resume().once('end', () => process.exit());
const server = app.listen(0, '127.0.0.1', () => tell(`listening ${(server.address() as AddressInfo).port}`));
// A connection that ends just as a client takes it again is an error of that client, not of the one who is tested.
server.keepAliveTimeout = 0;
