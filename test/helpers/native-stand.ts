import { Connection, type Keypair, PublicKey, TransactionInstruction, VersionedTransaction } from '@solana/web3.js';
import type { FacilitatorTiming } from '../../src/facilitator/create-facilitator.js';
import type { FacilitatorOptions } from '../../src/facilitator/facilitator-options.js';
import { createRouter, type RouterOptions } from '../../src/http/create-router.js';
import type { SandboxOptions } from '../../src/sandbox/start-sandbox.js';
import type { Draft } from './draft.js';
import { openTollStand, type TollStand } from './toll-stand.js';
import { until } from './until.js';

/** A response of the service. */
export interface ServiceResponse {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
}

/** An entry of `transaction.instructions`. */
export interface WireInstruction {
  readonly programId: string;
  readonly keys: readonly { pubkey: string; isSigner: boolean; isWritable: boolean; role?: string }[];
  readonly data: string;
}

/** Answer of `POST /create-payment`. */
export interface CreatedBody {
  readonly payment_id: string;
  readonly transaction: {
    readonly from: string;
    readonly to: string;
    readonly amount: number;
    readonly instructions: readonly WireInstruction[];
    readonly serialized?: string;
  };
  readonly expires_at: number;
  readonly network: string;
  readonly reference: string;
  readonly fee_payer: string;
  readonly token: string;
  readonly decimals: number;
  readonly solana_pay_url: string;
}

/** The service over HTTP, on a chain of its own. */
export interface NativeStand extends TollStand {
  readonly url: string;
  readonly connection: Connection;
  /** Another fee payer of the facilitator, which is not offered; it holds SOL and tokens. */
  readonly secondKey: Keypair;
  post(path: string, body: unknown): Promise<ServiceResponse>;
  get(path: string): Promise<ServiceResponse>;
  /** Asks for a payment to the seller; default 0.5 USDC from the stand's payer. */
  create(wanted?: Readonly<Record<string, unknown>>): Promise<CreatedBody>;
  /** The created transaction as a draft that can be spoilt. `feePayer`: who pays the fee, default the facilitator. */
  draft(created: CreatedBody, payer?: Keypair, feePayer?: Keypair): Promise<Draft>;
  settle(payment_id: string, transaction: Uint8Array): Promise<ServiceResponse>;
  /** Sends a transaction past the service, and waits until it is confirmed. */
  sendPast(transaction: Uint8Array): Promise<string>;
}

/** Blockhashes must outlive a test on a busy machine; a slot lasts 20 ms here. */
const BLOCKHASH_AGE = 5_000;

const LANDED = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;

/** Opens a stand before the tests of a file and closes it after them. */
export function useNativeStand(
  options: Partial<FacilitatorOptions> = {},
  sandboxOptions: SandboxOptions = {},
  routerOptions: Partial<RouterOptions> = {},
  timing: FacilitatorTiming = {},
): () => NativeStand {
  let stand: NativeStand | undefined;
  beforeAll(async () => {
    stand = await openNativeStand(options, sandboxOptions, routerOptions, timing);
  });
  afterAll(() => stand?.close());
  return () => stand!;
}

async function openNativeStand(
  options: Partial<FacilitatorOptions>,
  sandboxOptions: SandboxOptions,
  routerOptions: Partial<RouterOptions>,
  timing: FacilitatorTiming,
): Promise<NativeStand> {
  const toll = await openTollStand({ maxBlockhashAgeBlocks: BLOCKHASH_AGE, ...sandboxOptions });
  const secondKey = await toll.sandbox.createWallet({ sol: '1', usdc: '100' });
  const keypair = [toll.feePayer, secondKey];
  const facilitator = toll.facilitatorWith({ settleTimeoutMs: 20_000, keypair, ...options }, timing);
  const url = await toll.serve((app) => app.use(createRouter({ facilitator, limits: false, ...routerOptions })));
  const connection = new Connection(toll.sandbox.rpcUrl, 'confirmed');

  async function ask(path: string, init?: RequestInit): Promise<ServiceResponse> {
    const answer = await fetch(url + path, init);
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as ServiceResponse['body'] };
  }

  const post = (path: string, body: unknown): Promise<ServiceResponse> =>
    ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

  return {
    ...toll,
    facilitator,
    url,
    connection,
    secondKey,
    post,
    get: (path) => ask(path),
    async create(wanted = {}) {
      const payer = toll.payer.publicKey.toBase58();
      const answer = await post('/create-payment', {
        amount: 0.5,
        token: 'USDC',
        recipient: toll.payTo,
        payer,
        ...wanted,
      });
      if (answer.status !== 200) throw new Error(`create-payment: ${JSON.stringify(answer.body)}`);
      return answer.body as object as CreatedBody;
    },
    async draft(created, payer = toll.payer, feePayer) {
      const { blockhash } = await connection.getLatestBlockhash();
      return {
        version: 0,
        feePayer: feePayer?.publicKey.toBase58() ?? created.fee_payer,
        blockhash,
        instructions: created.transaction.instructions.map(readInstruction),
        signers: feePayer === undefined ? [payer] : [feePayer, payer],
      };
    },
    settle: (payment_id, transaction) =>
      post('/settle', { payment_id, signed_transaction: Buffer.from(transaction).toString('base64') }),
    async sendPast(transaction) {
      const signature = await connection.sendRawTransaction(transaction, { skipPreflight: true });
      await until(async () => (await connection.getTransaction(signature, LANDED)) !== null);
      return signature;
    },
  };
}

/** The created transaction, signed as it is. */
export function signCreated({ transaction }: CreatedBody, ...signers: Keypair[]): Uint8Array {
  const unsigned = VersionedTransaction.deserialize(Buffer.from(transaction.serialized ?? '', 'base64'));
  unsigned.sign(signers);
  return unsigned.serialize();
}

/** A draft with other instructions. */
export function withInstructions(
  draft: Draft,
  change: (all: TransactionInstruction[]) => TransactionInstruction[],
): Draft {
  return { ...draft, instructions: change([...draft.instructions]) };
}

function readInstruction({ programId, keys, data }: WireInstruction): TransactionInstruction {
  return new TransactionInstruction({
    programId: new PublicKey(programId),
    keys: keys.map(({ pubkey, isSigner, isWritable }) => ({ pubkey: new PublicKey(pubkey), isSigner, isWritable })),
    data: Buffer.from(data, 'base64'),
  });
}
