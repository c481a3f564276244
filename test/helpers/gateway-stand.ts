import type { Keypair } from '@solana/web3.js';
import type { Router } from 'express';
import type { FacilitatorTiming } from '../../src/facilitator/create-facilitator.js';
import { createGateway } from '../../src/gateway/create-gateway.js';
import type { Gateway } from '../../src/gateway/gateway.js';
import { createRouter } from '../../src/http/create-router.js';
import { createIdentity } from '../../src/identity/create-identity.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import {
  connectGateway,
  type GatewayClient,
  type MadeKey,
  type MadePayment,
  type MadeProject,
} from './gateway-client.js';
import { SECRET } from './identity-stand.js';
import type { ProofHeaders } from './sign-in.js';
import { openTollStand, type TollStand } from './toll-stand.js';
import { type Receiver, startReceiver } from './webhook-receiver.js';

/** A gateway with all its parts on a chain of its own, an upstream behind it, and a clock that can be moved on. */
export interface GatewayStand extends TollStand {
  readonly gateway: Gateway;
  /** The whole service; {@link client} speaks to it. */
  readonly router: Router;
  /** Everything that it keeps. */
  readonly storage: Storage;
  /** Holds what is owed to several recipients. */
  readonly splitWallet: Keypair;
  readonly client: GatewayClient;
  readonly upstream: Receiver;
  /** Two wallets with projects; each can be paid in every token. */
  readonly owner: Keypair;
  readonly partner: Keypair;
  readonly asOwner: ProofHeaders;
  /** A project with a 90/10 split between owner and partner. */
  readonly project: MadeProject;
  /** A key of {@link TollStand.payer}. */
  readonly key: MadeKey;
  /** Another project of the owner, all to the owner; default on the stand's upstream. */
  newProject(wanted?: Readonly<Record<string, unknown>>): Promise<MadeProject>;
  /** Another wallet with USDC, and a key of it. */
  newCaller(key?: Readonly<Record<string, unknown>>): Promise<Caller>;
  /** Pays for a call, by default of the project with the key by its owner. */
  pay(by?: { readonly project?: MadeProject; readonly caller?: Caller }): Promise<MadePayment>;
  /** How often the upstream was called. */
  hits(): number;
  /** Moves the clock of the service on; the chain's stays. */
  advance(milliseconds: number): void;
}

/** Somebody who calls: a wallet and a key of it. */
export interface Caller {
  readonly wallet: Keypair;
  readonly key: MadeKey;
}

const MUCH = '1000000';
const ACCOUNTS = { usdc: '0', usdt: '0', pyusd: '0' };
const BLOCKHASH_AGE = 5_000;
/** Tests are quicker than most callers. */
const QUICK = { limits: { per_second: 100 } };

/** Opens a stand before the tests of a file and closes it after them. */
export function useGatewayStand(): () => GatewayStand {
  let stand: GatewayStand | undefined;
  beforeAll(async () => {
    stand = await openGatewayStand();
  });
  afterAll(() => stand?.close());
  return () => stand!;
}

/** Opens one on a database of its own, by default one that is forgotten. */
export async function openGatewayStand(databaseUrl = 'memory:', timing: FacilitatorTiming = {}): Promise<GatewayStand> {
  const toll = await openTollStand({ maxBlockhashAgeBlocks: BLOCKHASH_AGE });
  const { sandbox, payer } = toll;
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const storage = await openStorage(databaseUrl, { now });
  const { ledger, idempotency, counters } = storage;
  const splitKeypair = await sandbox.createWallet(ACCOUNTS);
  const facilitator = toll.facilitatorWith({ ledger, idempotency, splitKeypair, now }, timing);
  const gateway = createGateway({ facilitator, storage, allowPrivateNetworks: ['127.0.0.0/8'], now });
  gateway.start();
  const identity = createIdentity({ network: 'solana-devnet', jwtSecret: SECRET, counters, now });
  const router = createRouter({ facilitator, gateway, identity, counters, limits: false });
  const client = await connectGateway(await toll.serve((app) => app.use(router)));
  const upstream = await startReceiver((res) => void res.end('paid for'));
  const [owner, partner] = [await sandbox.createWallet(ACCOUNTS), await sandbox.createWallet(ACCOUNTS)];
  const asOwner = await client.signIn(owner);
  const newKey = async (wallet: Keypair, wanted: Readonly<Record<string, unknown>> = {}) =>
    client.key(await client.signIn(wallet), { ...QUICK, ...wanted });
  const key = await newKey(payer);
  let projects = 0;

  function newProject(wanted: Readonly<Record<string, unknown>> = {}): Promise<MadeProject> {
    projects += 1;
    return client.project(asOwner, { slug: `project-${projects}`, upstream: { url: upstream.origin }, ...wanted });
  }

  const [most, rest] = [owner, partner].map((it) => it.publicKey.toBase58());
  const split = [
    { recipient: most, bps: 9_000 },
    { recipient: rest, bps: 1_000 },
  ];
  const project = await newProject({ split });

  return {
    ...toll,
    facilitator,
    gateway,
    router,
    storage,
    splitWallet: splitKeypair,
    client,
    upstream,
    owner,
    partner,
    asOwner,
    project,
    key,
    newProject,
    async newCaller(wanted) {
      const wallet = await sandbox.createWallet({ usdc: MUCH, sol: '1' });
      return { wallet, key: await newKey(wallet, wanted) };
    },
    pay: ({ project: paid = project, caller = { wallet: payer, key } } = {}) =>
      client.pay({ project: paid, payer: caller.wallet, key: caller.key }),
    hits: () => upstream.received.length,
    advance(milliseconds) {
      ahead += milliseconds;
    },
    async close() {
      await gateway.close();
      await toll.close();
      await storage.close();
      await upstream.close();
    },
  };
}
