import {
  createAssociatedTokenAccountInstruction,
  createCloseAccountInstruction,
  createMintToInstruction,
  createSyncNativeInstruction,
  getAssociatedTokenAddressSync,
  getTransferFeeAmount,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
  unpackAccount,
} from '@solana/spl-token';
import { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { SOL_MINT } from '../../src/protocol/networks/tokens.js';
import { type MintExtensions, type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { call, send, sign, tokens } from './sandbox-client.js';

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ slotMs: 0 });
});
afterAll(() => sandbox.close());

const textOf = (wallet: Keypair): string => wallet.publicKey.toBase58();

/** A new mint, a payer with 1,000 of it and a receiver with none. */
async function market(options: Parameters<Sandbox['createMint']>[0]) {
  const token = sandbox.createMint(options);
  const payer = await sandbox.createWallet({ sol: '1' });
  const receiver = await sandbox.createWallet();
  sandbox.fundToken(textOf(payer), token.mint, 1_000n);
  sandbox.fundToken(textOf(receiver), token.mint, 0n);
  const pay = async () =>
    send(sandbox, (await sign(sandbox, [payer], [tokens(payer, receiver.publicKey, token, 400n)])).wire);
  const held = () => [
    sandbox.tokenBalance(textOf(payer), token.mint),
    sandbox.tokenBalance(textOf(receiver), token.mint),
  ];
  return { token, payer, receiver, pay, held };
}

test.each(['spl-token', 'token-2022'] as const)('a plain %s mint moves in full', async (program) => {
  const { pay, held } = await market({ program, decimals: 2 });
  expect((await pay()).error).toBeUndefined();
  expect(held()).toEqual([600n, 400n]);
});

test.each([0n, 5_000_000n])(
  'what is given is in an account as the program makes it, where %s lamports were',
  async (there) => {
    const token = sandbox.createMint({ program: 'spl-token', decimals: 2 });
    const [given, made] = [await sandbox.createWallet({ sol: '1' }), await sandbox.createWallet({ sol: '1' })];
    const accountOf = ({ publicKey }: Keypair) => getAssociatedTokenAddressSync(new PublicKey(token.mint), publicKey);
    for (const wallet of [given, made]) if (there > 0n) sandbox.airdrop(accountOf(wallet).toBase58(), there);
    const { publicKey } = made;
    const opening = createAssociatedTokenAccountInstruction(
      publicKey,
      accountOf(made),
      publicKey,
      new PublicKey(token.mint),
    );
    expect((await send(sandbox, (await sign(sandbox, [made], [opening])).wire)).error).toBeUndefined();
    sandbox.fundToken(textOf(made), token.mint, 7n);
    sandbox.fundToken(textOf(given), token.mint, 7n);

    const stateOf = (wallet: Keypair) => {
      const { data, ...state } = sandbox.account(accountOf(wallet).toBase58())!;
      return {
        ...state,
        data: Buffer.from(data).toString('hex').replace(wallet.publicKey.toBuffer().toString('hex'), 'its owner'),
      };
    };
    expect(stateOf(given)).toEqual(stateOf(made));
  },
);

test('wrapped SOL is there from the start, and is the lamports of its account', async () => {
  const [payer, receiver] = [await sandbox.createWallet({ sol: '1' }), await sandbox.createWallet({ sol: '1' })];
  const account = new PublicKey(sandbox.fundToken(textOf(payer), SOL_MINT, 1_000n));
  const paid = new PublicKey(sandbox.fundToken(textOf(receiver), SOL_MINT, 0n));
  const token = { mint: SOL_MINT, decimals: 9, program: TOKEN_PROGRAM_ID.toBase58() };
  const moves = [createSyncNativeInstruction(account), tokens(payer, receiver.publicKey, token, 400n)];
  expect((await send(sandbox, (await sign(sandbox, [payer], moves)).wire)).error).toBeUndefined();
  expect(sandbox.tokenBalance(textOf(payer), SOL_MINT)).toBe(600n);
  expect(sandbox.tokenBalance(textOf(receiver), SOL_MINT)).toBe(400n);

  const before = sandbox.balance(textOf(payer)) + (sandbox.account(paid.toBase58())?.lamports ?? 0n);
  const unwrap = createCloseAccountInstruction(paid, payer.publicKey, receiver.publicKey);
  const { wire } = await sign(sandbox, [payer, receiver], [unwrap]);
  expect((await send(sandbox, wire)).error).toBeUndefined();
  expect(sandbox.balance(textOf(payer))).toBe(before - 10_000n);
});

test('a transfer fee is withheld from what arrives', async () => {
  const { token, receiver, pay, held } = await market({
    extensions: { transferFee: { basisPoints: 1_000, maximumFee: 1_000n } },
  });
  expect((await pay()).error).toBeUndefined();
  expect(held()).toEqual([600n, 360n]);
  const address = getAssociatedTokenAddressSync(
    new PublicKey(token.mint),
    receiver.publicKey,
    true,
    TOKEN_2022_PROGRAM_ID,
  );
  const state = sandbox.account(address.toBase58());
  const data = Buffer.from(state?.data ?? []);
  const info = { data, owner: TOKEN_2022_PROGRAM_ID, lamports: Number(state?.lamports), executable: false };
  expect(getTransferFeeAmount(unpackAccount(address, info, TOKEN_2022_PROGRAM_ID))?.withheldAmount).toBe(40n);
});

test.each([
  ['non-transferable', { nonTransferable: true }, { Custom: 37 }],
  ['frozen by default', { defaultFrozen: true }, { Custom: 17 }],
  ['with a transfer hook whose program is missing', { transferHook: { programId: textOf(Keypair.generate()) } }, null],
])('a mint %s is not moved by an ordinary transfer', async (_name, extensions, reason) => {
  const { pay, held } = await market({ extensions });
  const { error } = await pay();
  expect(error?.data.err.InstructionError[0]).toBe(0);
  if (reason !== null) {
    expect(error?.data.err.InstructionError[1]).toEqual(reason);
  }
  expect(held()).toEqual([1_000n, 0n]);
});

const other = textOf(Keypair.generate());
test.each([
  [
    { transferFee: { basisPoints: 250, maximumFee: 5_000n } } as MintExtensions,
    { transferFeeConfig: { newerTransferFee: { transferFeeBasisPoints: 250, maximumFee: 5_000 } } },
  ],
  [{ transferHook: { programId: other } }, { transferHook: { programId: other } }],
  [{ permanentDelegate: other }, { permanentDelegate: { delegate: other } }],
  [{ defaultFrozen: true }, { defaultAccountState: { accountState: 'frozen' } }],
  [{ confidentialTransfer: true }, { confidentialTransferMint: { autoApproveNewAccounts: true } }],
  [{ closeAuthority: other }, { mintCloseAuthority: { closeAuthority: other } }],
  [
    { permanentDelegate: other, defaultFrozen: true },
    { permanentDelegate: {}, defaultAccountState: {} },
  ],
])('extensions of a mint are named in its parsed form: %#', async (extensions, expected) => {
  const { mint } = sandbox.createMint({ extensions });
  const { result } = await call(sandbox, 'getAccountInfo', [mint, { encoding: 'jsonParsed' }]);
  const listed: { extension: string; state: unknown }[] = result.value.data.parsed.info.extensions;
  expect(Object.fromEntries(listed.map(({ extension, state }) => [extension, state]))).toMatchObject(expected);
  expect(listed).toHaveLength(Object.keys(expected).length);
});

test('the treasury may mint, by a real transaction', async () => {
  const usdc = sandbox.tokens[0]!;
  const wallet = await sandbox.createWallet({ usdc: '0' });
  const account = getAssociatedTokenAddressSync(new PublicKey(usdc.mint), wallet.publicKey);
  const mintTo = createMintToInstruction(new PublicKey(usdc.mint), account, sandbox.treasury.publicKey, 77n);
  expect((await send(sandbox, (await sign(sandbox, [sandbox.treasury], [mintTo])).wire)).error).toBeUndefined();
  expect(sandbox.tokenBalance(textOf(wallet), usdc.mint)).toBe(77n);
});

test('the supply of a mint is the sum of what was given out', async () => {
  const { mint } = sandbox.createMint({ decimals: 3 });
  for (const amount of [5n, 70n, 900n]) {
    sandbox.fundToken(textOf(Keypair.generate()), mint, amount);
  }
  const { result } = await call(sandbox, 'getTokenSupply', [mint]);
  expect(result.value).toEqual({ amount: '975', decimals: 3, uiAmount: 0.975, uiAmountString: '0.975' });
});

test('a wallet guard before and after a transfer executes', async () => {
  const usdc = sandbox.tokens[0]!;
  const payer = await sandbox.createWallet({ sol: '1', usdc: '1' });
  const seller = await sandbox.createWallet({ usdc: '0' });
  const guard = (data: number[]) =>
    new TransactionInstruction({
      programId: new PublicKey('L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95'),
      keys: [{ pubkey: payer.publicKey, isSigner: false, isWritable: false }],
      data: Buffer.from(data),
    });
  const instructions = [guard([5, 255, 254]), tokens(payer, seller.publicKey, usdc, 1_000_000n), guard([9])];
  expect((await send(sandbox, (await sign(sandbox, [payer], instructions)).wire)).error).toBeUndefined();
  expect(sandbox.tokenBalance(textOf(seller), usdc.mint)).toBe(1_000_000n);
});

test('demo wallets are the same everywhere and hold every token', () => {
  expect(sandbox.demoWallets.map(textOf)).toEqual([
    'G2B1s3GgTaxrEoJzBLDLHVKhpEJewLEq57QBTWfwhPND',
    'F8xN2yqhpV3FrBqegE6v7tPQr4tmUbMxELkCxaw4zB7R',
    '3K5JxFA21susKskAh6EgtgD5Jg4Fdsu9nMY91CqK6kiq',
    '5wkZzoN1satoeMXiv7m4Kd8bydkWg1xfdpP6ubHXtgQa',
    '49RkYVDNgS3i4CCVbVzvKW5ShVzq7GyktVFnn1GLGGKZ',
  ]);
  for (const { mint } of sandbox.tokens) {
    expect(sandbox.tokenBalance(textOf(sandbox.demoWallets[4]!), mint)).toBe(10_000_000_000n);
  }
  expect(sandbox.balance(textOf(sandbox.demoWallets[4]!))).toBe(100_000_000_000n);
});

test('an account can be written as no transaction could', async () => {
  const wallet = await sandbox.createWallet({ usdc: '1' });
  const address = getAssociatedTokenAddressSync(new PublicKey(sandbox.tokens[0]!.mint), wallet.publicKey).toBase58();
  const state = sandbox.account(address)!;
  const frozen = Buffer.from(state.data);
  frozen[108] = 2;
  sandbox.setAccount(address, { ...state, data: frozen });
  const { result } = await call(sandbox, 'getAccountInfo', [address, { encoding: 'jsonParsed' }]);
  expect(result.value.data.parsed.info.state).toBe('frozen');
});

test.each([
  [
    'extensions on SPL Token',
    () => sandbox.createMint({ program: 'spl-token', extensions: { nonTransferable: true } }),
    'token-2022',
  ],
  ['an unknown extension', () => sandbox.createMint({ extensions: { transferFees: 1 } as never }), 'transferFee, '],
  [
    'a mint that is none',
    () => sandbox.fundToken(textOf(Keypair.generate()), textOf(Keypair.generate()), 1n),
    'createMint',
  ],
  ['a number for lamports', () => sandbox.airdrop(textOf(Keypair.generate()), 1 as never), 'bigint'],
  ['an address that is none', () => sandbox.balance('0x00'), 'not an address'],
  ['a negative step', () => sandbox.advanceSlots(-1), 'above 0'],
])('what the sandbox cannot do is refused with the way out: %s', (_name, attempt, hint) => {
  expect(attempt).toThrow(hint);
});

test.each([
  [{ usdc: '1.0000001' }, 'decimal places'],
  [{ sol: '-1' }, '"sol"'],
  [{ bonk: '1' } as never, 'sol, usdc'],
])('a wallet cannot hold %j', async (funds, hint) => {
  await expect(sandbox.createWallet(funds)).rejects.toThrow(hint);
});
