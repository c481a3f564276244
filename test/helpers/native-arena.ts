import { createAssociatedTokenAccountIdempotentInstruction } from '@solana/spl-token';
import { type Keypair, PublicKey } from '@solana/web3.js';
import type { Reason } from '../../src/protocol/reasons.js';
import type { Token } from '../../src/protocol/types.js';
import { associatedTokenAddress } from '../../src/solana/transaction/associated-token.js';
import { buildDraft, type Draft } from './draft.js';
import type { CreatedBody, NativeStand } from './native-stand.js';
import { transferChecked } from './raw-instructions.js';

/** What an attack on a payment request knows. */
export interface NativeScene {
  readonly stand: NativeStand;
  readonly created: CreatedBody;
  readonly payer: Keypair;
}

/** A transaction that has to be refused, and its honest twin. */
export interface NativeAttack {
  readonly reason: Reason;
  readonly hostile: (honest: Draft, scene: NativeScene) => Draft | Promise<Draft>;
  /** Changes that are honest: the attack and its twin have them. */
  readonly twin?: (honest: Draft, scene: NativeScene) => Draft;
  /** What is asked for. Default 0.5 USDC to the seller. */
  readonly wanted?: Readonly<Record<string, unknown>>;
  /** Whether the payer pays the network fee itself. Default: we do. */
  readonly selfPaid?: boolean;
}

/**
 * Expects an attack to be refused by the rules alone: no call to the chain, nothing signed, nothing sent, not a lamport
 * lost; and its honest twin to settle.
 */
export async function expectRefused(stand: NativeStand, attack: NativeAttack): Promise<void> {
  const { reason, hostile, twin = (honest) => honest, wanted, selfPaid = false } = attack;
  const { sandbox, payTo, feePayer, secondKey, facilitator } = stand;
  const payer = await sandbox.createWallet({ sol: '1', usdc: '10', usdt: '10', pyusd: '10' });
  const created = await stand.create({ payer: payer.publicKey.toBase58(), ...wanted });
  const scene = { stand, created, payer };
  const honest = twin(await stand.draft(created, payer, selfPaid ? payer : undefined), scene);
  const spoilt = buildDraft(await hostile(honest, scene));
  expect(Buffer.from(spoilt).equals(buildDraft(honest))).toBe(false);

  const held = () => ({
    ours: [feePayer, secondKey].map(({ publicKey }) => sandbox.balance(publicKey.toBase58())),
    tokens: facilitator.tokens.map(({ mint }) => sandbox.tokenBalance(payTo, mint)),
    seller: sandbox.balance(payTo),
  });
  const before = held();
  sandbox.resetCalls();
  const refused = await stand.settle(created.payment_id, spoilt);
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_transaction', reason } });
  expect(sandbox.calls.total).toBe(0);
  expect(held()).toEqual(before);
  const told = await stand.get(`/payments/${created.payment_id}`);
  expect(told.body).toMatchObject({ status: 'created', tx_signature: null });

  const settled = await stand.settle(created.payment_id, buildDraft(honest));
  expect(settled).toMatchObject({ status: 200, body: { success: true } });
  if (selfPaid) expect(held().ours).toEqual(before.ours);
}

/** A token of the stand by its symbol. */
export function tokenOf({ facilitator }: NativeStand, symbol = 'USDC'): Token {
  return facilitator.tokens.find((it) => it.symbol === symbol)!;
}

/** A wallet's associated token account. */
export function accountOf(stand: NativeStand, owner: Keypair | string, symbol = 'USDC'): string {
  const { mint, program } = tokenOf(stand, symbol);
  return associatedTokenAddress(typeof owner === 'string' ? owner : owner.publicKey.toBase58(), mint, program);
}

/** A TransferChecked of a token of the stand, from anywhere to anywhere. */
export function move(
  stand: NativeStand,
  { from, to, by, amount }: { from: string; to: string; by: Keypair; amount: bigint },
  symbol = 'USDC',
) {
  const { mint, program, decimals } = tokenOf(stand, symbol);
  const authority = by.publicKey.toBase58();
  return transferChecked({ source: from, mint, destination: to, authority, amount, decimals, program });
}

/** The creation of a wallet's token account for a token of the stand. */
export function creation(stand: NativeStand, funder: string, owner: string, symbol = 'USDC') {
  const { mint, program } = tokenOf(stand, symbol);
  return createAssociatedTokenAccountIdempotentInstruction(
    new PublicKey(funder),
    new PublicKey(accountOf(stand, owner, symbol)),
    new PublicKey(owner),
    new PublicKey(mint),
    new PublicKey(program),
  );
}
