import { generateKeyPairSync, sign, verify } from 'node:crypto';
import bs58 from 'bs58';
import { createFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { x402V2 } from '../../../src/protocol/codecs/x402-v2.js';
import type { Terms } from '../../../src/protocol/types.js';
import { createSolanaRpc } from '../../../src/solana/rpc/rpc-client.js';
import { carry, type SignedPayment } from '../../helpers/transactions/payments.js';
import type { ContestantParts } from '../contestant.js';
import { presign } from '../presigned.js';
import { inParallel } from '../send-all.js';

/** What a payment is wrong in. */
export type Fault = 'malformed' | 'wrongly signed' | 'mismatched';

/** How the verifier is set up; keys are base58. */
export interface VerifierSettings {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  readonly keypair: string;
  readonly payer: string;
  readonly payTo: string;
  readonly blockhash: string;
}

const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const AT_ONCE = 8;
/** As long as the message of a payment. */
const MESSAGE_BYTES = 300;
/** A byte of the payer's signature: behind the count and the fee payer's slot. */
const PAYER_SIGNATURE = 1 + 64 + 10;

/** Reads payment headers and has them verified, as a gate does before it holds a payment; no HTTP server. */
export async function start(settings: VerifierSettings): Promise<ContestantParts> {
  const { rpcUrl, wsUrl, keypair, payer, payTo, blockhash } = settings;
  const facilitator = createFacilitator({ network: 'solana-devnet', rpcUrl, wsUrl, keypair });
  const rpc = createSolanaRpc({ urls: rpcUrl });
  const [feePayer = ''] = (await facilitator.supported()).signers;
  const amount = '10000';
  const accepted = {
    scheme: 'exact',
    network: DEVNET,
    asset: USDC,
    amount,
    payTo,
    maxTimeoutSeconds: 60,
    extra: { feePayer },
  } as const;
  const terms: Terms = { ...accepted, network: 'solana-devnet', amount: BigInt(amount), feePayer };
  const signed = (count: number) => presign({ payer: bs58.decode(payer), accepted, blockhash, count });
  let ready: readonly SignedPayment[] = [];

  async function isGood({ v2 }: SignedPayment, asked = terms): Promise<boolean> {
    const reading = x402V2.read(v2['payment-signature'] ?? '');
    return reading.ok && (await facilitator.verify(reading.payment, asked)).ok;
  }

  async function refuse(fault: Fault, count: number): Promise<void> {
    const wrong = ready.map((it) => spoil(it, fault));
    const asked = fault === 'mismatched' ? { ...terms, amount: terms.amount + 1n } : terms;
    for (let index = 0; index < count; index += 1) {
      const payment = wrong[index % wrong.length];
      if (payment === undefined || (await isGood(payment, asked))) throw new Error(`a ${fault} payment was taken`);
    }
  }

  return {
    url: rpcUrl,
    asks: {
      /** Signs payments for what follows. */
      prepare: (count) => {
        ready = signed(Number(count));
      },
      /** What a signature costs by itself: Node's own check of one, that many times. */
      checkSignatures: (count) => checkSignatures(Number(count)),
      refuse: (order) => refuse(...(order as readonly [Fault, number])),
      verify: async () => {
        const answers = await inParallel(ready, AT_ONCE, (it) => isGood(it));
        if (answers.includes(false)) throw new Error('a good payment was refused');
      },
      /** The call to the chain that a good payment costs, and nothing else. */
      simulate: async () =>
        void (await inParallel(ready, AT_ONCE, async ({ transaction }) =>
          rpc.simulateTransaction(transaction, { commitment: 'confirmed' }),
        )),
    },
  };
}

function checkSignatures(count: number): void {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const message = Buffer.alloc(MESSAGE_BYTES);
  const signature = sign(null, message, privateKey);
  signature[0] = (signature[0] ?? 0) ^ 1;
  for (let checked = 0; checked < count; checked += 1) {
    if (verify(null, message, publicKey, signature)) throw new Error('a wrong signature was taken');
  }
}

function spoil(payment: SignedPayment, fault: Fault): SignedPayment {
  if (fault === 'mismatched') return payment;
  const { transaction, accepted } = payment;
  if (fault === 'malformed') return carry(transaction.subarray(0, transaction.length - 20), accepted);
  const bytes = Uint8Array.from(transaction);
  bytes[PAYER_SIGNATURE] = (bytes[PAYER_SIGNATURE] ?? 0) ^ 1;
  return carry(bytes, accepted);
}
