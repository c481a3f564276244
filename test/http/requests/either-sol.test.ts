import { VersionedTransaction } from '@solana/web3.js';
import { splitAmount } from '../../../src/protocol/money/split.js';
import { SOL_MINT } from '../../../src/protocol/networks/tokens.js';
import { transferInstructions, unsignedTransaction } from '../../../src/solana/building/transfer-transaction.js';
import { NATIVE_SOL, PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { reconciled } from '../../helpers/crash/reconciled.js';
import { type ClientResponse, type MadeProject, proofHeader } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import {
  confirmed,
  latestBlockhash,
  sendToChain,
  signTransfer,
  transferDirectly,
} from '../../helpers/transactions/direct-transfer.js';

const fixture = useGatewayFixture();
const SOL = 1_000_000_000n;
const PRICE = SOL / 100n;
const HOUR_MS = 3_600_000;
/** How SOL is asked for, and how it is paid. */
const FORMS = [
  ['SOL', 'native'],
  ['SOL', 'SOL'],
  [SOL_MINT, 'SOL'],
  [SOL_MINT, 'native'],
] as const;
const ASSETS = { native: NATIVE_SOL, SOL: SOL_MINT };

type Form = keyof typeof ASSETS;

const outcome = ({ status, body }: ClientResponse) => [status, body['code']];
const SERVED = [200, undefined];

let project: MadeProject;
let caller: Caller;
beforeAll(async () => {
  const { newCaller, newProject, owner, partner, sandbox } = fixture();
  const split = [
    { recipient: owner.publicKey.toBase58(), bps: 9_000 },
    { recipient: partner.publicKey.toBase58(), bps: 1_000 },
  ];
  project = await newProject({ pricing: { amount: '0.01', token: 'SOL' }, split });
  for (const { recipient } of split) sandbox.fundToken(recipient, SOL_MINT, 0n);
  caller = await newCaller();
  sandbox.airdrop(caller.wallet.publicKey.toBase58(), 10n * SOL);
  sandbox.fundToken(caller.wallet.publicKey.toBase58(), SOL_MINT, 5n * SOL);
});

const legs = () => splitAmount(PRICE, project.split);

interface Asked {
  readonly id: string;
  readonly reference: string;
}

async function asked(token: string, more: object = {}): Promise<Asked> {
  const recipient = project.split[0]?.recipient;
  const wanted = { amount: '0.01', token, recipient, project: project.slug, ...more };
  const { status, body } = await fixture().client.ask('POST', '/create-payment', wanted, caller.key.headers);
  expect([status, body['detail']]).toEqual([200, undefined]);
  return { id: String(body['payment_id']), reference: String(body['reference']) };
}

const transferOf = ({ reference }: Asked, token: Form) => ({
  wallet: caller.wallet,
  legs: legs(),
  token,
  names: [reference],
});
const pay = (request: Asked, token: Form) => transferDirectly(fixture().sandbox, transferOf(request, token));
const show = (signature: string) =>
  fixture().client.call(project.slug, { headers: { ...caller.key.headers, ...proofHeader(signature) } });
const stateOf = async ({ id }: Asked) => (await fixture().client.ask('GET', `/payments/${id}`)).body;

/** The first recipient in native SOL, and the other in wrapped SOL. */
async function payMixed({ reference }: Asked): Promise<string> {
  const { sandbox } = fixture();
  const payer = caller.wallet.publicKey.toBase58();
  const plan = { decimals: 9, memo: undefined, accountsToCreate: new Set<string>() };
  const [first, second] = legs();
  const native = { ...plan, asset: NATIVE_SOL, tokenProgram: NATIVE_SOL, legs: [first!], reference };
  const wrapped = { ...plan, asset: SOL_MINT, tokenProgram: PROGRAMS.token, legs: [second!], reference: undefined };
  const transfers = [native, wrapped].flatMap((it) => transferInstructions(it, payer).slice(2));
  const unsigned = unsignedTransaction(transfers, payer, await latestBlockhash(sandbox));
  const transaction = VersionedTransaction.deserialize(unsigned!);
  transaction.sign([caller.wallet]);
  const signature = await sendToChain(sandbox, transaction.serialize());
  await confirmed(sandbox, signature);
  return signature;
}

/** In what the last call was paid, by the books. */
async function lastPaidIn(): Promise<unknown> {
  const { asOwner, client } = fixture();
  const { body } = await client.ask('GET', `/api/v1/projects/${project.id}/calls?limit=1`, undefined, asOwner);
  const [last] = body['data'] as readonly { readonly mint: string }[];
  return last?.mint;
}

async function expectHonestBooks(): Promise<void> {
  const { feePayer, sandbox, splitWallet, storage } = fixture();
  const [feePayers, splitWallets] = [feePayer, splitWallet].map((it) => [it.publicKey.toBase58()]) as [
    string[],
    string[],
  ];
  const { differences, found, notes } = await reconciled({ sandbox, feePayers, splitWallets }, storage);
  expect({ differences, found, notes }).toEqual({ differences: 0, found: [], notes: [] });
}

describe.each(FORMS)('a request in %s, paid as %s', (token, form) => {
  test('buys its call, and is booked as it was paid', async () => {
    const request = await asked(token);
    const tx_signature = await pay(request, form);
    expect(outcome(await show(tx_signature))).toEqual(SERVED);
    expect(await lastPaidIn()).toBe(ASSETS[form]);
    expect(await stateOf(request)).toMatchObject({ status: 'settled', tx_signature });
  });

  test('is found by its reference, and buys its call after that', async () => {
    const request = await asked(token);
    const tx_signature = await pay(request, form);
    expect(await stateOf(request)).toMatchObject({ status: 'settled', tx_signature });
    expect(outcome(await show(tx_signature))).toEqual(SERVED);
    expect(await lastPaidIn()).toBe(ASSETS[form]);
  });

  test('too late it buys nothing, and is booked as late', async () => {
    fixture().advance(-HOUR_MS);
    const request = await asked(token, { expires_in: 30 });
    fixture().advance(HOUR_MS);
    const tx_signature = await pay(request, form);
    expect(outcome(await show(tx_signature))).toEqual([402, 'payment_invalid']);
    expect(await stateOf(request)).toMatchObject({ status: 'expired', reason: 'invalid_transfer_late', tx_signature });
  });

  test('has books that agree with the chain', expectHonestBooks);
});

test('before anybody asks, reconcile says that a wallet has paid, whichever way', async () => {
  const request = await asked('SOL');
  const signature = await pay(request, 'SOL');
  const { feePayer, sandbox, storage } = fixture();
  const compared = { sandbox, feePayers: [feePayer.publicKey.toBase58()], splitWallets: [] };
  const { notes } = await reconciled(compared, storage);
  expect(notes.map(({ ids }) => ids)).toEqual([[request.id, signature]]);
  expect(await stateOf(request)).toMatchObject({ status: 'settled', tx_signature: signature });
  await expectHonestBooks();
});

test('one recipient in native SOL and the other in wrapped SOL is no payment, and it is said why', async () => {
  const request = await asked('SOL');
  const signature = await payMixed(request);
  const before = fixture().hits();
  const refused = await show(signature);
  expect([...outcome(refused), refused.body['error']]).toEqual([402, 'payment_invalid', 'invalid_transfer_mixed_sol']);
  expect(refused.body['detail']).toMatch(/some recipients in native SOL and others in wrapped SOL/);
  expect(fixture().hits()).toBe(before);
  expect(await stateOf(request)).toMatchObject({ status: 'created', tx_signature: null });
});

test.each([
  ['SOL', 'SOL', /asks for native SOL/],
  [SOL_MINT, 'native', /asks for wrapped SOL/],
] as const)(
  'what is brought to be sent must be in the form that is asked for: %s, not %s',
  async (token, form, said) => {
    const request = await asked(token);
    const { bytes } = await signTransfer(fixture().sandbox, transferOf(request, form));
    const signed_transaction = Buffer.from(bytes).toString('base64');
    const refused = await fixture().client.ask('POST', '/settle', { payment_id: request.id, signed_transaction });
    expect(outcome(refused)).toEqual([400, 'invalid_transaction']);
    expect(refused.body['detail']).toMatch(said);
  },
);
