import { createHash } from 'node:crypto';
import {
  AddressLookupTableAccount,
  Keypair,
  PublicKey,
  TransactionInstruction,
  VersionedTransaction,
} from '@solana/web3.js';
import fc from 'fast-check';
import { type DecodedTransaction, decodeTransaction } from '../../../../src/solana/transaction/transaction.js';
import { buildDraft, type Draft } from '../../../helpers/transactions/draft.js';

const WALLETS = Array.from({ length: 6 }, () => Keypair.generate());
const FEE_PAYER = WALLETS[0]!;
const PROGRAMS = Array.from({ length: 4 }, () => Keypair.generate().publicKey);
const BLOCKHASH = Keypair.generate().publicKey.toBase58();

const anAccount = fc.record({
  pubkey: fc.constantFrom(...WALLETS.map(({ publicKey }) => publicKey)),
  isSigner: fc.boolean(),
  isWritable: fc.boolean(),
});

const anInstruction = fc
  .record({
    programId: fc.constantFrom(...PROGRAMS),
    keys: fc.array(anAccount, { maxLength: 6 }),
    data: fc.uint8Array({ maxLength: 60 }).map((it) => Buffer.from(it)),
  })
  .map((fields) => new TransactionInstruction(fields));

const aDraft: fc.Arbitrary<Draft> = fc.record({
  version: fc.constantFrom('legacy' as const, 0 as const),
  feePayer: fc.constant(FEE_PAYER.publicKey.toBase58()),
  blockhash: fc.constant(BLOCKHASH),
  instructions: fc.array(anInstruction, { maxLength: 5 }),
  signers: fc.constant(WALLETS),
});

function decoded(bytes: Uint8Array): DecodedTransaction {
  const result = decodeTransaction(bytes);
  if (!result.ok) throw new Error(result.detail);
  return result.transaction;
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** What both decoders have to agree on, as web3.js sees it. */
function asWeb3(bytes: Uint8Array) {
  const { message, signatures } = VersionedTransaction.deserialize(bytes);
  const accounts = message.staticAccountKeys.map((key) => key.toBase58());
  return {
    version: message.version,
    signatures: signatures.map(hex),
    message: hex(message.serialize()),
    accounts,
    requiredSignatures: message.header.numRequiredSignatures,
    blockhash: message.recentBlockhash,
    lookupTables: message.addressTableLookups.length,
    instructions: message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
      program: accounts[programIdIndex] ?? '',
      accounts: accountKeyIndexes.map((index) => accounts[index] ?? ''),
      data: hex(data),
    })),
  };
}

function asOurs(transaction: DecodedTransaction) {
  const { version, signatures, message, accounts, requiredSignatures, blockhash, lookupTables } = transaction;
  return {
    version,
    signatures: signatures.map(hex),
    message: hex(message),
    accounts,
    requiredSignatures,
    blockhash,
    lookupTables,
    instructions: transaction.instructions.map((it) => ({ ...it, data: hex(it.data) })),
  };
}

test('a transaction is read as web3.js reads it', () => {
  fc.assert(
    fc.property(aDraft, (draft) => {
      const bytes = buildDraft(draft);
      fc.pre(bytes.length <= 1_232);
      expect(asOurs(decoded(bytes))).toEqual(asWeb3(bytes));
    }),
    { numRuns: 300 },
  );
});

test('lookup tables are counted', () => {
  const [hidden] = WALLETS.slice(1);
  const state = { deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0 };
  const addresses = [hidden!.publicKey];
  const table = new AddressLookupTableAccount({ key: PROGRAMS[1]!, state: { ...state, addresses } });
  const pubkey = hidden!.publicKey;
  const instruction = new TransactionInstruction({
    programId: PROGRAMS[0]!,
    keys: [{ pubkey, isSigner: false, isWritable: true }],
  });
  const bytes = buildDraft({
    version: 0,
    feePayer: FEE_PAYER.publicKey.toBase58(),
    blockhash: BLOCKHASH,
    instructions: [instruction],
    signers: [FEE_PAYER],
    lookupTables: [table],
  });
  const transaction = decoded(bytes);
  expect(transaction.lookupTables).toBe(1);
  expect(asOurs(transaction)).toEqual(asWeb3(bytes));
});

test('the hash names the message alone, and the slots stand where they are said to', () => {
  fc.assert(
    fc.property(aDraft, fc.nat({ max: 255 }), (draft, fill) => {
      const bytes = buildDraft(draft);
      fc.pre(bytes.length <= 1_232);
      const { messageHash, message, signaturesOffset, signatures } = decoded(bytes);
      expect(messageHash).toBe(createHash('sha256').update(message).digest('hex'));
      const end = signaturesOffset + 64 * signatures.length;
      const others = Uint8Array.from(bytes).fill(fill, signaturesOffset, end);
      expect(decoded(others).messageHash).toBe(messageHash);
      expect(decoded(others).signatures).toEqual(signatures.map(() => new Uint8Array(64).fill(fill)));
    }),
  );
});

test('any bytes are answered, never thrown', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5_000, size: 'max' }), (bytes) => {
      expect(decodeTransaction(bytes)).toHaveProperty('ok');
    }),
    { numRuns: 500 },
  );
});

const sample = buildDraft({
  version: 0,
  feePayer: FEE_PAYER.publicKey.toBase58(),
  blockhash: BLOCKHASH,
  instructions: PROGRAMS.map(
    (programId, index) =>
      new TransactionInstruction({
        programId,
        keys: WALLETS.slice(0, index + 2).map(({ publicKey }, at) => ({
          pubkey: new PublicKey(publicKey),
          isSigner: at === 1,
          isWritable: at % 2 === 0,
        })),
        data: Buffer.alloc(index * 20, index),
      }),
  ),
  signers: WALLETS,
});

test('with any one byte changed it is still read as web3.js reads it, or refused; never thrown', () => {
  fc.assert(
    fc.property(fc.nat({ max: sample.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const bytes = Uint8Array.from(sample);
      bytes[at] = (bytes[at] ?? 0) ^ change;
      const result = decodeTransaction(bytes);
      if (result.ok) expect(asOurs(result.transaction)).toEqual(asWeb3(bytes));
      else expect(result.detail).toMatch(/^The transaction cannot be decoded: |^Transactions with a version /);
    }),
    { numRuns: 800 },
  );
});

test('cut off anywhere it is refused', () => {
  for (let length = 0; length < sample.length; length += 1) {
    const result = decodeTransaction(sample.subarray(0, length));
    expect(result).toMatchObject({ ok: false, reason: 'invalid_exact_svm_payload_transaction_could_not_be_decoded' });
  }
  expect(decodeTransaction(sample).ok).toBe(true);
});

test('with bytes after its end it is refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 100 }), (more) => {
      const result = decodeTransaction(Buffer.concat([sample, more]));
      expect(result).toMatchObject({
        ok: false,
        detail: expect.stringContaining(`${more.length} bytes follow its end`),
      });
    }),
  );
});

test('it may be a part of a larger buffer', () => {
  const buffer = Buffer.concat([Buffer.alloc(7, 1), sample, Buffer.alloc(9, 2)]);
  const part = buffer.subarray(7, 7 + sample.length);
  expect(asOurs(decoded(part))).toEqual(asOurs(decoded(sample)));
});
