// A gateway's server that tests kill and start again on the same database: the parts of the service, with leases short enough
// for a test. A process of its own.
import { writeSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createFacilitator, createGateway, createIdentity, createRouter, openStorage } from '../../../src/index.js';

const { MONEY_DATABASE = '', MONEY_RPC = '', MONEY_KEYPAIR = '', MONEY_SPLIT = '', MONEY_PORT = '0' } = process.env;
/** Where whoever takes from a pass, gives back to one, or keeps a response stands still for ever. Default: nowhere. */
const { MONEY_STANDS } = process.env;
const RECOVER_EVERY_MS = 500;
const QUICK = { leaseMs: 3_000, settleTimeoutMs: 5_000, rpcTimeoutMs: 2_000 };

const tell = (line: string): void => void writeSync(1, `${line}\n`);

const opened = await openStorage(MONEY_DATABASE);
const { counters, passes, idempotency } = opened;
const standing = (): Promise<never> => {
  tell('stands still');
  return new Promise(() => {});
};
const passesThat = (stand: Partial<typeof passes>) => ({ passes: { ...passes, ...stand } });
const STANDING: Readonly<Record<string, Partial<typeof opened>>> = {
  'before debit': passesThat({ debit: standing }),
  'after debit': passesThat({ debit: async (debit) => (await passes.debit(debit)) && standing() }),
  'before giving back': passesThat({ giveBack: standing }),
  'before a name has its response': { idempotency: { ...idempotency, finish: standing } },
};
const storage = { ...opened, ...STANDING[MONEY_STANDS ?? ''] };
const facilitator = createFacilitator({
  network: 'solana-devnet',
  rpcUrl: MONEY_RPC,
  keypair: MONEY_KEYPAIR,
  splitKeypair: MONEY_SPLIT,
  storage,
  ...QUICK,
});
const gateway = createGateway({ facilitator, storage, allowPrivateNetworks: ['127.0.0.0/8'], limitScale: 1_000 });
gateway.start();
const identity = createIdentity({
  network: 'solana-devnet',
  counters,
  domain: 'localhost',
  jwtSecret: 'money'.repeat(10),
});
const app = express();
app.use(createRouter({ facilitator, gateway, identity, counters, limits: false }));

const recover = async (): Promise<void> => {
  await facilitator.recover().catch((error: unknown) => tell(`recovery failed: ${String(error)}`));
  setTimeout(recover, RECOVER_EVERY_MS);
};
void recover();
// A test that is killed leaves nothing behind.
process.stdin.resume().once('end', () => process.exit());
const server = app.listen(Number(MONEY_PORT), '127.0.0.1', () =>
  tell(`listening ${(server.address() as AddressInfo).port}`),
);
// A connection that ends just as a client takes it again is an error of that client, not of the one who is tested.
server.keepAliveTimeout = 0;
