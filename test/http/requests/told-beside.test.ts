import { Connection, type Keypair, PublicKey } from '@solana/web3.js';
import type { EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { emptyDatabases } from '../../helpers/storage/empty-databases.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { transferChecked } from '../../helpers/transactions/raw-instructions.js';
import { until } from '../../helpers/until.js';

const PRICE = 500_000n;
/** After the end of a request's time, and what may still land. */
const IS_OVER_MS = 300_000;

describe.each(emptyDatabases())('the seller of a payment request, with $dialect', ({ newUrl }) => {
  let toll: TollFixture;
  let storage: Storage;
  let buyer: Keypair;
  let past = 0;
  const now = (): number => Date.now() + past;
  const opened: EmbeddedFacilitator[] = [];

  beforeAll(async () => {
    toll = await openTollFixture({ maxBlockhashAgeBlocks: 5_000 });
    storage = await openStorage(await newUrl(), { now });
    buyer = await toll.sandbox.createWallet({ sol: '1', usdc: '100', usdt: '100' });
  });
  afterAll(async () => {
    await Promise.all(opened.map((it) => it.close()));
    await storage.close();
    await toll.close();
  });
  beforeEach(() => {
    past = 0;
  });

  function facilitator(): EmbeddedFacilitator {
    const made = toll.facilitatorWith({ storage, now }, { lookMs: 20 });
    opened.push(made);
    return made;
  }

  /** A wallet that knows a reference and builds its transfer by itself. */
  async function pay(reference: string, amount: bigint, symbol = 'USDC'): Promise<string> {
    const connection = new Connection(toll.sandbox.rpcUrl, 'confirmed');
    const token = opened[0]?.tokens.find((it) => it.symbol === symbol);
    const { mint = '', program = '', decimals = 0 } = token ?? {};
    const owner = buyer.publicKey.toBase58();
    const [source, destination] = [owner, toll.payTo].map((it) => associatedTokenAddress(it, mint, program)) as [
      string,
      string,
    ];
    const instruction = transferChecked({ source, mint, destination, authority: owner, amount, decimals, program });
    instruction.keys.push({ pubkey: new PublicKey(reference), isSigner: false, isWritable: false });
    const { blockhash } = await connection.getLatestBlockhash();
    const draft = { version: 0, feePayer: owner, blockhash, instructions: [instruction], signers: [buyer] } as const;
    const signature = await connection.sendRawTransaction(buildDraft(draft), { skipPreflight: true });
    const landed = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;
    await until(async () => (await connection.getTransaction(signature, landed)) !== null);
    return signature;
  }

  const ask = async (it: EmbeddedFacilitator) =>
    (await it.createPayment({ amount: '0.5', token: 'USDC', recipient: toll.payTo })).request;

  async function toldOf(id: string) {
    const types = ['payment.settled', 'payment.overpaid', 'payment.unmatched'] as const;
    const events = await storage.gateway.events.list(toll.payTo, { types, limit: 100 });
    return events.filter(({ data }) => data['payment_id'] === id || data['resource'] === id).reverse();
  }

  test('hears once of what came beside the price, though nobody asks for the request and two instances look', async () => {
    const [one, other] = [facilitator(), facilitator()];
    const inProcess: string[] = [];
    for (const it of [one, other]) {
      it.on('payment.overpaid', ({ receipt, surplus }) => inProcess.push(`${receipt.signature} ${surplus}`));
      it.on('payment.unmatched', ({ signature, reason }) => inProcess.push(`${signature} ${reason}`));
    }
    const request = await ask(one);
    const paid = await pay(request.reference, PRICE + 7n);
    const again = await pay(request.reference, PRICE);
    const strange = await pay(request.reference, 3n, 'USDT');
    expect(await toldOf(request.id)).toEqual([]);

    past = IS_OVER_MS;
    await until(async () => (await toldOf(request.id)).length === 4);
    past += 3_600_000;
    await Promise.all([one, other].map((it) => it.paymentRequest(request.id)));
    const [payer, to, network] = [buyer.publicKey.toBase58(), toll.payTo, request.network];
    const unmatched = { payment_id: request.id, network, pay_to: to };
    const usdt = one.tokens.find(({ symbol }) => symbol === 'USDT')?.mint;
    const money = { network, asset: request.token.mint, amount_atomic: String(PRICE), pay_to: to };
    const came = (asset: string | undefined, amount: bigint) => [
      { asset, amount_atomic: String(amount), to, from: payer },
    ];
    const told = await toldOf(request.id);
    expect(told.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'payment.settled', data: expect.objectContaining({ tx_signature: paid }) },
      {
        type: 'payment.overpaid',
        data: {
          ...{ payment_id: request.id, payer, tx_signature: paid, slot: expect.any(Number), surplus_atomic: '7' },
          ...money,
        },
      },
      {
        type: 'payment.unmatched',
        data: {
          ...unmatched,
          ...{ tx_signature: again, reason: 'invalid_transfer_already_paid' },
          received: came(request.token.mint, PRICE),
        },
      },
      {
        type: 'payment.unmatched',
        data: {
          ...{ ...unmatched, tx_signature: strange, reason: 'invalid_transfer_leg_missing' },
          received: came(usdt, 3n),
        },
      },
    ]);
    expect(inProcess).toEqual([
      `${paid} 7`,
      `${again} invalid_transfer_already_paid`,
      `${strange} invalid_transfer_leg_missing`,
    ]);
  });

  test('hears of a part that comes hours late, of a request that was looked at before', async () => {
    const it = facilitator();
    const request = await ask(it);
    past = IS_OVER_MS;
    const looks = () => toll.sandbox.calls['getSignaturesForAddress'] ?? 0;
    const before = looks();
    await until(() => looks() > before);
    const late = await pay(request.reference, 1n);
    past += 20 * 3_600_000;
    await until(async () => (await toldOf(request.id)).length === 1);
    expect(await toldOf(request.id)).toMatchObject([{ type: 'payment.unmatched', data: { tx_signature: late } }]);
  });
});
