import {
  address,
  appendTransactionMessageInstructions,
  createKeyPairSignerFromBytes,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  isSolanaError,
  pipe,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
  SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND,
  sendAndConfirmTransactionFactory,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ slotMs: 20 });
});
afterAll(() => sandbox.close());

const MEMO = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

async function memoTransaction(text: string) {
  const rpc = createSolanaRpc(sandbox.rpcUrl);
  const signer = await createKeyPairSignerFromBytes((await sandbox.createWallet({ sol: '1' })).secretKey);
  const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send();
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (draft) => setTransactionMessageFeePayerSigner(signer, draft),
    (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
    (draft) =>
      appendTransactionMessageInstructions([{ programAddress: MEMO, data: new TextEncoder().encode(text) }], draft),
  );
  return { rpc, signer, transaction: await signTransactionMessageWithSigners(message) };
}

test('kit sends a version 0 transaction, is told of its confirmation, and reads it back', async () => {
  const { rpc, signer, transaction } = await memoTransaction('sold by the sandbox');
  const rpcSubscriptions = createSolanaRpcSubscriptions(sandbox.wsUrl);
  const sendAndConfirm = sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions });
  sandbox.resetCalls();
  await sendAndConfirm(
    { ...transaction, lifetimeConstraint: transaction.lifetimeConstraint as never },
    { commitment: 'confirmed' },
  );
  expect(sandbox.calls.signatureSubscribe).toBe(1);
  const found = await rpc
    .getTransaction(getSignatureFromTransaction(transaction), {
      commitment: 'confirmed',
      encoding: 'json',
      maxSupportedTransactionVersion: 0,
    })
    .send();
  expect(found?.meta?.logMessages?.join()).toContain('sold by the sandbox');
  expect(found?.meta?.fee).toBe(5_000n);
  const { value: left } = await rpc.getBalance(signer.address, { commitment: 'confirmed' }).send();
  expect(left).toBe(1_000_000_000n - 5_000n);
});

test('kit reads accounts with every digit of their numbers', async () => {
  const rpc = createSolanaRpc(sandbox.rpcUrl);
  const { value: mint } = await rpc.getAccountInfo(address(sandbox.tokens[0]!.mint), { encoding: 'base64' }).send();
  expect(mint?.space).toBe(82n);
  expect(mint?.executable).toBe(false);
  const raw = await fetch(sandbox.rpcUrl, {
    method: 'POST',
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'getAccountInfo',
      params: [sandbox.tokens[0]!.mint, { encoding: 'base64' }],
    }),
  });
  expect(await raw.text()).toContain('"rentEpoch":18446744073709551615,');
});

test('kit understands why a preflight failed', async () => {
  const { rpc, transaction } = await memoTransaction('too late');
  sandbox.expireBlockhashes();
  const failure: unknown = await rpc
    .sendTransaction(getBase64EncodedWireTransaction(transaction), {
      encoding: 'base64',
      preflightCommitment: 'confirmed',
    })
    .send()
    .catch((error: unknown) => error);
  expect(isSolanaError(failure, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE)).toBe(true);
  const cause = failure instanceof Error ? failure.cause : undefined;
  expect(isSolanaError(cause, SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND)).toBe(true);
});

test('kit follows slots and an account', async () => {
  const subscriptions = createSolanaRpcSubscriptions(sandbox.wsUrl);
  const wallet = await sandbox.createWallet({ sol: '1' });
  const stop = new AbortController();
  const options = { abortSignal: stop.signal };
  const slots = await subscriptions.slotNotifications().subscribe(options);
  const account = await subscriptions
    .accountNotifications(address(wallet.publicKey.toBase58()), { commitment: 'processed', encoding: 'base64' })
    .subscribe(options);
  const change = account[Symbol.asyncIterator]().next();
  sandbox.airdrop(wallet.publicKey.toBase58(), 5n);
  expect((await change).value?.value.lamports).toBe(1_000_000_005n);
  const seen: bigint[] = [];
  for await (const { slot, parent } of slots) {
    expect(parent).toBe(slot - 1n);
    seen.push(slot);
    if (seen.length === 3) {
      break;
    }
  }
  stop.abort();
  expect(seen).toEqual([seen[0], (seen[0] ?? 0n) + 1n, (seen[0] ?? 0n) + 2n]);
});
