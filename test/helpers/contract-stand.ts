import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Keypair, VersionedTransaction } from '@solana/web3.js';
import type { Sandbox } from '../../src/sandbox/start-sandbox.js';
import { readConfiguration } from '../../src/server/configuration/configuration.js';
import { type RunningServer, startServer } from '../../src/server/start-server.js';
import { createConformance, type OpenApi } from './documented.js';

/** A response whose body is JSON, or empty. */
export interface ContractResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Answer of `POST /create-payment`, as far as a payer needs it. */
export interface Created {
  readonly payment_id: string;
  readonly transaction: { readonly serialized: string };
}

/** The server that `npm start` starts, on a chain of its own. */
export interface ContractStand {
  readonly server: RunningServer;
  /** Where the server keeps what it must not lose. */
  readonly databaseFile: string;
  readonly sandbox: Sandbox;
  readonly document: OpenApi;
  /** The seller, who can receive every token. */
  readonly seller: string;
  /** Asks; the response is checked against `/openapi.json`, status, media type and every field. */
  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ContractResponse>;
  /** Asks for a payment to the seller; default one USDC. */
  create(payer: Keypair, wanted?: Readonly<Record<string, unknown>>): Promise<Created>;
  /** Signs the transaction of a payment and brings it to `/settle`. */
  settle(payer: Keypair, created: Created): Promise<ContractResponse>;
}

const NO_LIMITS = '1000';

/** Starts the server before the tests of a file, as `npm start` does with nothing set, and stops it after them. */
export function useContractStand(): () => ContractStand {
  let stand: ContractStand | undefined;
  beforeAll(async () => {
    stand = await openContractStand();
  });
  afterAll(() => stand?.server.close());
  return () => stand!;
}

async function openContractStand(): Promise<ContractStand> {
  const databaseFile = join(mkdtempSync(join(tmpdir(), 'tollhouse-contract-')), 'tollhouse.db');
  const configuration = readConfiguration({
    PORT: '0',
    RATE_LIMIT_SCALE: NO_LIMITS,
    LOG_LEVEL: 'silent',
    DATABASE_URL: `sqlite:${databaseFile}`,
  });
  const server = await startServer(configuration);
  const sandbox = server.chain.sandbox!;
  const seller = (await sandbox.createWallet({ usdc: '0', usdt: '0', pyusd: '0' })).publicKey.toBase58();
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApi;
  const faultsOf = createConformance(document);

  async function ask(method: string, path: string, body?: unknown, headers = {}): Promise<ContractResponse> {
    const content = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const init = { method, headers: { ...type, ...headers }, redirect: 'manual', ...content } as const;
    const answer = await fetch(`${server.url}${path}`, init);
    const text = await answer.text();
    const { status } = answer;
    if (status !== 404 && status !== 405) {
      expect(faultsOf(method, path, { status, headers: answer.headers, text })).toEqual([]);
    }
    return { status, headers: answer.headers, body: /^\{/.test(text) ? JSON.parse(text) : {} };
  }

  return {
    server,
    databaseFile,
    sandbox,
    document,
    seller,
    ask,
    async create(payer, wanted = {}) {
      const asked = { amount: 1, token: 'USDC', recipient: seller, payer: payer.publicKey.toBase58(), ...wanted };
      const { status, body } = await ask('POST', '/create-payment', asked);
      expect([status, body['code']]).toEqual([200, undefined]);
      return body as object as Created;
    },
    settle(payer, { payment_id, transaction }) {
      const signed = VersionedTransaction.deserialize(Buffer.from(transaction.serialized, 'base64'));
      signed.sign([payer]);
      const signed_transaction = Buffer.from(signed.serialize()).toString('base64');
      return ask('POST', '/settle', { payment_id, signed_transaction });
    },
  };
}
