import { getAssociatedTokenAddressSync, TOKEN_2022_PROGRAM_ID } from '@solana/spl-token';
import {
  Connection,
  Keypair,
  PublicKey,
  SendTransactionError,
  sendAndConfirmTransaction,
  type TokenBalance,
  Transaction,
} from '@solana/web3.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { until } from '../helpers/until.js';
import { lamports, tokens } from './sandbox-client.js';

let sandbox: Sandbox;
let connection: Connection;

beforeAll(async () => {
  sandbox = await startSandbox({ slotMs: 20 });
  connection = new Connection(sandbox.rpcUrl, 'confirmed');
});
afterAll(() => sandbox.close());

test('web3.js finds the WebSocket endpoint by itself and is told of the confirmation there', async () => {
  const payer = await sandbox.createWallet({ sol: '1' });
  const to = Keypair.generate().publicKey;
  sandbox.resetCalls();
  const transfer = new Transaction().add(lamports(payer, to, 5_000_000));
  await sendAndConfirmTransaction(connection, transfer, [payer]);
  expect(sandbox.wsUrl).toBe(`ws://127.0.0.1:${Number(new URL(sandbox.rpcUrl).port) + 1}`);
  expect(sandbox.calls.signatureSubscribe).toBe(1);
  expect(await connection.getBalance(to)).toBe(5_000_000);
  expect(await connection.getBalance(payer.publicKey)).toBe(1_000_000_000 - 5_000_000 - 5_000);
});

test('WebSocket upgrades are accepted on the HTTP port too', async () => {
  const other = new Connection(sandbox.rpcUrl, { wsEndpoint: sandbox.rpcUrl.replace('http', 'ws') });
  const slot = await new Promise<number>((resolve) => {
    const id = other.onSlotChange((info) => {
      resolve(info.slot);
      void other.removeSlotChangeListener(id);
    });
  });
  expect(slot).toBeGreaterThan(0);
});

test('a parsed transaction tells the transfer, the fee and the balances before and after', async () => {
  const payer = await sandbox.createWallet({ sol: '1', usdc: '10' });
  const seller = await sandbox.createWallet({ usdc: '1' });
  const usdc = sandbox.tokens[0]!;
  const transfer = new Transaction().add(tokens(payer, seller.publicKey, usdc, 2_500_000n));
  const signature = await sendAndConfirmTransaction(connection, transfer, [payer]);
  const found = await connection.getParsedTransaction(signature);
  expect(found?.transaction.message.instructions).toEqual([
    expect.objectContaining({
      program: 'spl-token',
      parsed: {
        type: 'transferChecked',
        info: expect.objectContaining({
          mint: usdc.mint,
          authority: payer.publicKey.toBase58(),
          tokenAmount: { amount: '2500000', decimals: 6, uiAmount: 2.5, uiAmountString: '2.5' },
        }),
      },
    }),
  ]);
  expect(found?.meta?.fee).toBe(5_000);
  expect(found?.meta?.preBalances[0]).toBe(1_000_000_000);
  expect(found?.meta?.postBalances[0]).toBe(1_000_000_000 - 5_000);
  const amountOf = (balances: TokenBalance[] | null | undefined, owner: PublicKey) =>
    balances?.find((balance) => balance.owner === owner.toBase58())?.uiTokenAmount.amount;
  expect(amountOf(found?.meta?.preTokenBalances, seller.publicKey)).toBe('1000000');
  expect(amountOf(found?.meta?.postTokenBalances, seller.publicKey)).toBe('3500000');
});

test('a plain transaction comes back with the message that was signed', async () => {
  const payer = await sandbox.createWallet({ sol: '1' });
  const transfer = new Transaction().add(lamports(payer, payer.publicKey, 1));
  const signature = await sendAndConfirmTransaction(connection, transfer, [payer]);
  const found = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
  expect(found?.version).toBe('legacy');
  expect(found?.transaction.message.recentBlockhash).toBe(transfer.recentBlockhash);
  expect(found?.transaction.signatures).toEqual([signature]);
  expect(found?.blockTime).toBeGreaterThan(1_600_000_000);
});

test('token accounts are listed by program and by mint, parsed, Token-2022 with its extensions', async () => {
  const wallet = await sandbox.createWallet({ usdc: '3', usdt: '0', pyusd: '7' });
  const [usdc, , pyusd] = sandbox.tokens;
  const byMint = await connection.getParsedTokenAccountsByOwner(wallet.publicKey, { mint: new PublicKey(usdc!.mint) });
  expect(byMint.value.map(({ account }) => account.data.parsed.info.tokenAmount.amount)).toEqual(['3000000']);
  const extended = await connection.getParsedTokenAccountsByOwner(wallet.publicKey, {
    programId: TOKEN_2022_PROGRAM_ID,
  });
  expect(extended.value).toHaveLength(1);
  expect(extended.value[0]?.account.data).toMatchObject({
    program: 'spl-token-2022',
    parsed: { info: { mint: pyusd!.mint, extensions: [{ extension: 'immutableOwner' }] } },
  });
  const address = getAssociatedTokenAddressSync(new PublicKey(usdc!.mint), wallet.publicKey);
  expect((await connection.getTokenAccountBalance(address)).value.uiAmountString).toBe('3');
});

test('the mint of USDC is read with six decimals and a supply that covers what was given out', async () => {
  const info = await connection.getParsedAccountInfo(new PublicKey(sandbox.tokens[0]!.mint));
  const supply = await connection.getTokenSupply(new PublicKey(sandbox.tokens[0]!.mint));
  expect(info.value?.data).toMatchObject({ program: 'spl-token', parsed: { type: 'mint', info: { decimals: 6 } } });
  expect(BigInt(supply.value.amount)).toBeGreaterThanOrEqual(50_000_000_000n);
});

test('an air drop over RPC is a transaction that confirms', async () => {
  const to = Keypair.generate().publicKey;
  const [first, second] = [
    await connection.requestAirdrop(to, 7_000_000),
    await connection.requestAirdrop(to, 7_000_000),
  ];
  const latest = await connection.getLatestBlockhash();
  await connection.confirmTransaction({ signature: second, ...latest });
  expect(first).not.toBe(second);
  expect(await connection.getBalance(to)).toBe(14_000_000);
});

test('a signature that has been reached already is notified at once', async () => {
  const payer = await sandbox.createWallet({ sol: '1' });
  const signature = await sendAndConfirmTransaction(
    connection,
    new Transaction().add(lamports(payer, payer.publicKey, 2)),
    [payer],
  );
  const result = await new Promise((resolve) => {
    connection.onSignature(signature, resolve, 'confirmed');
  });
  expect(result).toEqual({ err: null });
});

test('an account subscription tells every change at its commitment', async () => {
  const payer = await sandbox.createWallet({ sol: '1' });
  const to = Keypair.generate().publicKey;
  sandbox.airdrop(to.toBase58(), 1_000_000n);
  const seen: number[] = [];
  const before = sandbox.calls.accountSubscribe;
  await new Promise<void>((resolve) => {
    const id = connection.onAccountChange(
      to,
      ({ lamports: balance }) => {
        seen.push(balance);
        if (seen.length === 2) {
          void connection.removeAccountChangeListener(id).then(resolve);
        }
      },
      { commitment: 'confirmed' },
    );
    void until(() => sandbox.calls.accountSubscribe > before).then(() => {
      sandbox.airdrop(to.toBase58(), 500n);
      const transfer = new Transaction().add(lamports(payer, to, 250));
      return sendAndConfirmTransaction(connection, transfer, [payer]);
    });
  });
  expect(seen).toEqual([1_000_500, 1_000_750]);
});

test('a failed preflight reaches web3.js as its error, with the logs', async () => {
  const payer = await sandbox.createWallet({ sol: '1' });
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
  const transfer = new Transaction({ blockhash, lastValidBlockHeight, feePayer: payer.publicKey });
  transfer.add(lamports(payer, Keypair.generate().publicKey, 2_000_000_000));
  transfer.sign(payer);
  const failure: unknown = await connection.sendRawTransaction(transfer.serialize()).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(SendTransactionError);
  expect((failure as SendTransactionError).logs?.join()).toContain('insufficient lamports');
});
