import { setTimeout as pause } from 'node:timers/promises';
import { Keypair, PublicKey, SystemProgram, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { createEd25519Signer } from '../../../src/lib/ed25519/ed25519.js';
import { splitAmount } from '../../../src/protocol/money/split.js';
import { unsignedTransaction } from '../../../src/solana/building/transfer-transaction.js';
import { CALL_PRICE, type ClientResponse, proofHeader } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { confirmed, latestBlockhash, transferDirectly } from '../../helpers/transactions/direct-transfer.js';

const fixture = useGatewayFixture();
const PRICE_TEXT = '0.012347';
/** More than a page of a node's history. */
const MANY = 1_003;
const AT_ONCE = 100;

const outcome = ({ status, body }: ClientResponse) => [status, body['code']];

let caller: Caller;
let strange: Keypair;
beforeAll(async () => {
  caller = await fixture().newCaller();
  strange = await fixture().sandbox.createWallet({ sol: '1' });
});

interface Asked {
  readonly id: string;
  readonly reference: string;
  /** Unsigned; the facilitator pays its fee. */
  readonly serialized: string;
}

async function asked(): Promise<Asked> {
  const { client, project } = fixture();
  const recipient = project.split[0]?.recipient;
  const payer = caller.wallet.publicKey.toBase58();
  const wanted = { amount: PRICE_TEXT, token: 'USDC', recipient, project: project.slug, payer };
  const { status, body } = await client.ask('POST', '/create-payment', wanted, caller.key.headers);
  expect(status).toBe(200);
  const { serialized } = body['transaction'] as { readonly serialized: string };
  return { id: String(body['payment_id']), reference: String(body['reference']), serialized };
}

/** The caller's wallet pays by itself, to the first recipient as many times its share. */
function paid(names: readonly string[], times = 1n): Promise<string> {
  const [first, ...others] = splitAmount(CALL_PRICE, fixture().project.split);
  const legs = [{ ...first!, amount: first!.amount * times }, ...others];
  return transferDirectly(fixture().sandbox, { wallet: caller.wallet, legs, names });
}

/** A stranger names a reference in so many transactions, each of which costs 5,000 lamports. */
async function named(reference: string, count: number): Promise<void> {
  const { sandbox } = fixture();
  const blockhash = await latestBlockhash(sandbox);
  const all = Array.from({ length: count }, (_, at) => naming(reference, at + 1, blockhash));
  for (let start = 0; start < count; start += AT_ONCE) await sendAll(sandbox.rpcUrl, all.slice(start, start + AT_ONCE));
  await confirmed(sandbox, bs58.encode(all.at(-1)!.signatures[0]!));
}

function naming(reference: string, lamports: number, blockhash: string): VersionedTransaction {
  const from = strange.publicKey;
  const transfer = SystemProgram.transfer({ fromPubkey: from, toPubkey: from, lamports });
  transfer.keys.push({ pubkey: new PublicKey(reference), isSigner: false, isWritable: false });
  const transaction = VersionedTransaction.deserialize(unsignedTransaction([transfer], from.toBase58(), blockhash)!);
  transaction.addSignature(from, quickSign(transaction.message.serialize()));
  return transaction;
}

async function sendAll(rpcUrl: string, transactions: readonly VersionedTransaction[]): Promise<void> {
  const calls = transactions.map((it, id) => {
    const text = Buffer.from(it.serialize()).toString('base64');
    return {
      jsonrpc: '2.0',
      id,
      method: 'sendTransaction',
      params: [text, { encoding: 'base64', skipPreflight: true }],
    };
  });
  const headers = { 'content-type': 'application/json' };
  const send = () => fetch(rpcUrl, { method: 'POST', headers, body: JSON.stringify(calls) });
  // While they were signed the connection may have been closed; the same transactions count once.
  const answer = await send().catch(send);
  const results = (await answer.json()) as readonly { readonly result?: string }[];
  expect(results.filter(({ result }) => result === undefined)).toEqual([]);
}

/** web3.js takes ten times as long. */
function quickSign(message: Uint8Array): Uint8Array {
  return createEd25519Signer(strange.secretKey.subarray(0, 32)).sign(message);
}

/** Brings the facilitator's own transaction, signed by the caller, after all. */
function settle({ id, serialized }: Asked): Promise<ClientResponse> {
  const transaction = VersionedTransaction.deserialize(Buffer.from(serialized, 'base64'));
  transaction.sign([caller.wallet]);
  const signed_transaction = Buffer.from(transaction.serialize()).toString('base64');
  return fixture().client.ask('POST', '/settle', { payment_id: id, signed_transaction });
}

/** What the caller has. */
function held(): bigint {
  const { sandbox } = fixture();
  return sandbox.tokenBalance(caller.wallet.publicKey.toBase58(), sandbox.tokens[0]!.mint);
}

async function expectServed(signature: string): Promise<void> {
  const { client, project, hits } = fixture();
  const calls = hits();
  const headers = { ...caller.key.headers, ...proofHeader(signature) };
  expect(outcome(await client.call(project.slug, { headers }))).toEqual([200, undefined]);
  expect(hits()).toBe(calls + 1);
}

describe('a payment is found', () => {
  test('though a thousand transactions name its reference after it, and no second one is taken', async () => {
    const request = await asked();
    const signature = await paid([request.reference]);
    await named(request.reference, MANY);
    const before = held();
    expect(outcome(await settle(request))).toEqual([400, 'payment_already_settled']);
    expect(held()).toBe(before);
    const { body } = await fixture().client.ask('GET', `/payments/${request.id}`);
    expect(body).toMatchObject({ status: 'settled', tx_signature: signature });
    await expectServed(signature);
  });

  test('though more than can be looked at at once name it before; meanwhile no second one is taken', async () => {
    const request = await asked();
    await named(request.reference, 150);
    const signature = await paid([request.reference]);
    const before = held();
    const first = await settle(request);
    expect([...outcome(first), first.headers.get('retry-after')]).toEqual([409, 'payment_in_progress', '1']);
    expect(outcome(await settle(request))).toEqual([400, 'payment_already_settled']);
    expect(held()).toBe(before);
    await expectServed(signature);
  });

  test.each([8, 16])('though its transaction names %s accounts before the reference', async (count) => {
    const request = await asked();
    const others = Array.from({ length: count }, () => Keypair.generate().publicKey.toBase58());
    const signature = await paid([...others, request.reference]);
    const { body } = await fixture().client.ask('GET', `/payments/${request.id}`);
    expect(body).toMatchObject({ status: 'settled', tx_signature: signature });
    await expectServed(signature);
  });
});

test('a call that is paid with more than its price is served, once, and the rest is told', async () => {
  const { client, project, sandbox, hits } = fixture();
  const request = await asked();
  const seller = project.split[0]!.recipient;
  const mint = sandbox.tokens[0]!.mint;
  const before = sandbox.tokenBalance(seller, mint);
  const signature = await paid([request.reference], 2n);
  await expectServed(signature);
  const calls = hits();
  const again = await client.call(`${project.slug}?more`, {
    headers: { ...caller.key.headers, ...proofHeader(signature) },
  });
  expect([...outcome(again), hits()]).toEqual([402, 'payment_already_used', calls]);
  const got = sandbox.tokenBalance(seller, mint) - before;
  const { body } = await client.ask('GET', `/payments/${request.id}`);
  expect(body).toMatchObject({ status: 'settled', tx_signature: signature, surplus: String(got / 2n), unmatched: [] });
});

test('more than the price, sent without a request, buys nothing unless it names one', async () => {
  const { client, project, hits } = fixture();
  const signature = await paid([], 2n);
  const calls = hits();
  const { status, body } = await client.call(project.slug, {
    headers: { ...caller.key.headers, ...proofHeader(signature) },
  });
  expect([status, body['error'], hits()]).toEqual([402, 'invalid_transfer_leg_missing', calls]);
});

test('what names a reference and pays nothing keeps nobody from paying', async () => {
  const request = await asked();
  await named(request.reference, 150);
  const before = held();
  let settled = await settle(request);
  while (settled.status === 409) settled = await settle(request);
  expect(settled.status).toBe(200);
  expect(held()).toBe(before - CALL_PRICE);
  await expectServed(String(settled.body['tx_signature']));
});

test('what was read of a history once is not read again', async () => {
  const request = await asked();
  await named(request.reference, 50);
  const { client, sandbox } = fixture();
  const ask = () => client.ask('GET', `/payments/${request.id}`);
  await ask();
  // The chain's answer is believed for two seconds.
  await pause(2_100);
  sandbox.resetCalls();
  await ask();
  // What came beside the price is looked for once in five seconds, by a call of its own.
  expect([1, 2]).toContain(sandbox.calls['getSignaturesForAddress']);
  expect(sandbox.calls['getTransaction'] ?? 0).toBe(0);
});
