import { createInitializeAccount3Instruction } from '@solana/spl-token';
import { Connection, Keypair, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import { splitAmount } from '../../../src/protocol/money/split.js';
import { SANDBOX_TOKENS } from '../../../src/protocol/networks/tokens.js';
import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { CALL_PRICE, proofHeader } from '../../helpers/fixtures/gateway-client.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { confirmed, sendToChain } from '../../helpers/transactions/direct-transfer.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { handOver, madeInside, transferChecked } from '../../helpers/transactions/raw-instructions.js';

const fixture = useGatewayFixture();
const [{ mint, program, decimals }] = SANDBOX_TOKENS as [(typeof SANDBOX_TOKENS)[number]];
const addressOf = ({ publicKey }: Keypair): string => publicKey.toBase58();
const at = (owner: string): string => associatedTokenAddress(owner, mint, program);

/** A request for the price of the fixture's project, made under its key. */
async function request() {
  const { client, project, key } = fixture();
  const asked = { amount: '0.012347', token: 'USDC', recipient: project.split[0]?.recipient, project: project.slug };
  const { body } = await client.ask('POST', '/create-payment', asked, key.headers);
  return { id: String(body['payment_id']), reference: String(body['reference']) };
}

function transfer(source: string, destination: string, by: Keypair, amount: bigint): TransactionInstruction {
  return transferChecked({ source, mint, destination, authority: addressOf(by), amount, decimals, program });
}

/** Opens a token account of a wallet at a key of its own, and puts the price into it. */
function filled(account: Keypair, wallet: Keypair): TransactionInstruction[] {
  const create = SystemProgram.createAccount({
    fromPubkey: wallet.publicKey,
    newAccountPubkey: account.publicKey,
    lamports: 2_039_280,
    space: 165,
    programId: new PublicKey(program),
  });
  const open = createInitializeAccount3Instruction(account.publicKey, new PublicKey(mint), wallet.publicKey);
  return [create, open, transfer(at(addressOf(wallet)), addressOf(account), wallet, CALL_PRICE)];
}

/** A wallet pays a request by itself, from one of its accounts; answers the signature. */
async function payFrom(
  account: Keypair,
  wallet: Keypair,
  reference: string,
  after: readonly TransactionInstruction[] = [],
): Promise<string> {
  const { sandbox, project } = fixture();
  const legs = splitAmount(CALL_PRICE, project.split);
  const paying = legs.map((it) => transfer(addressOf(account), at(it.recipient), wallet, it.amount));
  paying[0]?.keys.push({ pubkey: new PublicKey(reference), isSigner: false, isWritable: false });
  const instructions = [...filled(account, wallet), ...paying, ...after];
  const { blockhash } = await new Connection(sandbox.rpcUrl).getLatestBlockhash('confirmed');
  const draft = { version: 0, feePayer: addressOf(wallet), blockhash, instructions } as const;
  const signature = await sendToChain(sandbox, buildDraft({ ...draft, signers: [wallet, account] }));
  await confirmed(sandbox, signature);
  return signature;
}

/** What the service says of a request, and of the call that is made with its signature. */
async function told({ id }: { readonly id: string }, signature: string) {
  const { client, project, key, upstream } = fixture();
  const { body } = await client.ask('GET', `/payments/${id}`);
  const { status } = await client.call(project.slug, { headers: { ...key.headers, ...proofHeader(signature) } });
  const upstreamWasTold = upstream.received.at(-1)?.headers['x-tollhouse-payer'];
  return { state: body['status'], payer: body['payer'], call: status, upstreamWasTold };
}

test.each([
  ['at the top level', (it: TransactionInstruction) => it],
  ['inside of another instruction', madeInside],
])('who gives the account that paid to another wallet has paid all the same: %s', async (_where, made) => {
  const { wallet: thief } = await fixture().newCaller();
  const victim = addressOf(fixture().payer);
  const account = Keypair.generate();
  const asked = await request();
  const given = made(handOver(addressOf(account), victim, { by: addressOf(thief) }));
  const signature = await payFrom(account, thief, asked.reference, [given]);

  const payer = addressOf(thief);
  expect(await told(asked, signature)).toEqual({ state: 'settled', payer, call: 200, upstreamWasTold: payer });
});

test('and its twin: who keeps it', async () => {
  const { wallet } = await fixture().newCaller();
  const asked = await request();
  const signature = await payFrom(Keypair.generate(), wallet, asked.reference);
  const payer = addressOf(wallet);
  expect(await told(asked, signature)).toEqual({ state: 'settled', payer, call: 200, upstreamWasTold: payer });
});
