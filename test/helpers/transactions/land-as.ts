import {
  Connection,
  type Keypair,
  sendAndConfirmTransaction,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import type { TollFixture } from '../fixtures/toll-fixture.js';

/** Does on the chain what a wallet can do by itself, and waits until it is confirmed. The wallet pays the network fee. */
export async function landAs(
  { sandbox }: Pick<TollFixture, 'sandbox'>,
  wallet: Keypair,
  ...instructions: readonly TransactionInstruction[]
): Promise<void> {
  const connection = new Connection(sandbox.rpcUrl, 'confirmed');
  await sendAndConfirmTransaction(connection, new Transaction().add(...instructions), [wallet]);
}
