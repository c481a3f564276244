import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { x402Client } from '../../../src/facilitator/payments/x402-client.js';
import type { Facilitator } from '../../../src/facilitator/types.js';
import { toCaip2 } from '../../../src/protocol/networks/networks.js';
import { KNOWN_TOKENS } from '../../../src/protocol/networks/tokens.js';
import type { Supported } from '../../../src/protocol/supported.js';
import type { Payment, Settlement, Terms, Verification } from '../../../src/protocol/types.js';
import { encodeFacilitatorRequest } from '../../../src/protocol/wire/remote.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const network = 'solana-devnet';
const [payTo, feePayer, payer] = ['seller', 'fee payer', 'payer'].map((name) => walletKey(name).address) as [
  string,
  string,
  string,
];
const asset = KNOWN_TOKENS[network][0]?.mint ?? '';
const TERMS: Terms = { scheme: 'exact', network, asset, amount: 5n, payTo, maxTimeoutSeconds: 60, feePayer };
const PAYMENT: Payment = { scheme: 'exact', network, transaction: Uint8Array.of(1, 2, 3), accepted: TERMS };
const SUPPORTED: Supported = {
  kinds: [{ scheme: 'exact', network, feePayer }],
  extensions: ['e'],
  signers: [feePayer],
};

/** A core that answers this, and notes what it was asked. */
function scene(verification: Verification, settlement: Settlement) {
  const asked: unknown[] = [];
  const core: Pick<Facilitator, 'verify' | 'settle' | 'supported'> = {
    async verify(...call) {
      asked.push(call);
      return verification;
    },
    async settle(...call) {
      asked.push(call);
      return settlement;
    },
    supported: async () => SUPPORTED,
  };
  return { asked, client: x402Client(core, network) };
}

const receipt = { signature: 'sig', network, payer, payTo, asset, amount: 5n, slot: 7 } as const;
const good = () => scene({ ok: true, payer }, { status: 'settled', receipt });
const { paymentPayload, paymentRequirements } = encodeFacilitatorRequest(PAYMENT, TERMS);

test('a payment is verified and settled as it was read', async () => {
  const { asked, client } = good();
  expect(await client.verify(paymentPayload, paymentRequirements)).toEqual({ isValid: true, payer });
  expect(await client.settle(paymentPayload, paymentRequirements)).toMatchObject({
    success: true,
    transaction: 'sig',
    network: toCaip2(network),
    payer,
  });
  const call = [expect.objectContaining({ transaction: Buffer.of(1, 2, 3) }), TERMS];
  expect(asked).toEqual([call, call]);
});

test('a refusal keeps its reason', async () => {
  const refusal = { reason: 'insufficient_funds', message: 'too little', payer } as const;
  const { client } = scene({ ok: false, ...refusal }, { status: 'failed', ...refusal });
  expect(await client.verify(paymentPayload, paymentRequirements)).toEqual({
    isValid: false,
    invalidReason: 'insufficient_funds',
    invalidMessage: 'too little',
    payer,
  });
  expect(await client.settle(paymentPayload, paymentRequirements)).toEqual({
    success: false,
    errorReason: 'insufficient_funds',
    errorMessage: 'too little',
    transaction: '',
    network: toCaip2(network),
    payer,
  });
});

test('what cannot be read is refused without asking', async () => {
  const { asked, client } = good();
  const malformed = { ...paymentRequirements, amount: 'much' } as PaymentRequirements;
  const detail = expect.stringContaining('paymentRequirements');
  expect(await client.verify(paymentPayload, malformed)).toEqual({
    isValid: false,
    invalidReason: 'invalid_payload',
    invalidMessage: detail,
  });
  expect(await client.settle(paymentPayload, malformed)).toEqual({
    success: false,
    errorReason: 'invalid_payload',
    errorMessage: detail,
    transaction: '',
    network: toCaip2(network),
  });
  expect(asked).toEqual([]);
});

test('a failed settlement is answered in the version of the call', async () => {
  const { client } = good();
  const old = { ...paymentPayload, x402Version: 1 } as PaymentPayload;
  expect(await client.settle(old, paymentRequirements)).toMatchObject({ success: false, network });
});

test('what is supported is told in both versions', async () => {
  const extra = { feePayer };
  expect(await good().client.getSupported()).toEqual({
    kinds: [
      { x402Version: 2, scheme: 'exact', network: toCaip2(network), extra },
      { x402Version: 1, scheme: 'exact', network, extra },
    ],
    extensions: ['e'],
    signers: { 'solana:*': [feePayer] },
  });
});
