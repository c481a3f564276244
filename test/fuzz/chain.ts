import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import fc from 'fast-check';
import { TollhouseError } from '../../src/errors/errors.js';
import { mintFactsOf, tokenAccountOf } from '../../src/solana/accounts/token-accounts.js';
import { readKeypair } from '../../src/solana/keypair.js';
import { readHistory, readLandedTransaction } from '../../src/solana/rpc/landed-transaction.js';
import { ResponseShapeError } from '../../src/solana/rpc/response-shape-error.js';
import * as answers from '../../src/solana/rpc/rpc-responses.js';
import { checkPayment } from '../../src/solana/rules/checks.js';
import { decodeTransaction } from '../../src/solana/transaction/transaction.js';
import { buildDraft } from '../helpers/transactions/draft.js';
import { honestDraft } from '../helpers/transactions/honest-draft.js';
import { PAYER, SIGNATURE, TERMS, TRANSACTION_BASE64 } from '../unit/protocol/samples.js';
import { type Fuzz, fuzz, nearly, nearlyBytes, nearlyText, orRefuses } from './fuzz.js';

const payer = Keypair.generate();
const token = { decimals: 6, program: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' };
const HONEST = honestDraft({ terms: TERMS, payer, token, blockhash: PAYER });
const TRANSACTIONS = [buildDraft(HONEST), buildDraft({ ...HONEST, version: 'legacy' })];
const POLICY = { managedKeys: new Set([TERMS.feePayer ?? '']), maxFeeLamports: 100_000n };

const aTransaction = nearlyBytes(
  fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...TRANSACTIONS) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 1_300 }) },
  ),
);

const context = { slot: 5 };
const ACCOUNT = { lamports: 5, owner: token.program, data: [Buffer.alloc(165, 1).toString('base64'), 'base64'] };
const BALANCE = { accountIndex: 1, mint: PAYER, owner: PAYER, uiTokenAmount: { decimals: 6, amount: '7' } };
const LANDED = {
  slot: 5,
  blockTime: 1_790_000_000,
  transaction: [Buffer.from(TRANSACTIONS[0] ?? []).toString('base64'), 'base64'],
  meta: {
    err: null,
    fee: 10_000,
    computeUnitsConsumed: 6_000,
    loadedAddresses: { writable: [], readonly: [PAYER] },
    innerInstructions: [{ index: 0, instructions: [{ programIdIndex: 1, accounts: [0, 1], data: '3Bxs' }] }],
    preBalances: [5, 6, 7],
    postBalances: [4, 6, 7],
    preTokenBalances: [BALANCE],
    postTokenBalances: [BALANCE],
  },
};
const anResponse = nearly(
  { ...LANDED, transaction: [TRANSACTION_BASE64, 'base64'] },
  { context, value: { blockhash: PAYER, lastValidBlockHeight: 150 } },
  { absoluteSlot: 5, blockHeight: 4 },
  { context, value: [ACCOUNT] },
  { context, value: [{ pubkey: PAYER, account: ACCOUNT }] },
  { context, value: { err: { InstructionError: [2, { Custom: 1 }] }, logs: ['Program log'] } },
  { context, value: { err: null, accounts: [ACCOUNT], innerInstructions: [{ index: 1, instructions: [{}] }] } },
  { context, value: [{ slot: 5, confirmations: null, err: null, confirmationStatus: 'finalized' }] },
  [{ signature: SIGNATURE, slot: 5, err: null, blockTime: 1_790_000_000 }],
);
const READERS: readonly ((result: unknown) => unknown)[] = [
  readLandedTransaction,
  readHistory,
  answers.readLatestBlockhash,
  answers.readTip,
  (it) => answers.readAccounts(it, 1).map((account) => [mintFactsOf(account), tokenAccountOf(account)]),
  (it) => answers.readTokenAccounts(it).map(tokenAccountOf),
  (it) => answers.readSimulation(it, { accounts: ['a'], innerInstructions: true }),
  (it) => answers.readStatuses(it, 1),
  answers.readText,
];

/** Transactions and answers of nodes: whatever comes, it is refused in our own words. */
export const CHAIN: readonly Fuzz[] = [
  fuzz('transaction', aTransaction, (bytes) => {
    const decoded = decodeTransaction(bytes);
    if (!decoded.ok) return;
    const { transaction } = decoded;
    assert.deepEqual(Buffer.from(transaction.bytes), Buffer.from(bytes));
    assert.equal(transaction.messageHash, createHash('sha256').update(transaction.message).digest('hex'));
    checkPayment(transaction, TERMS, POLICY);
  }),
  fuzz('transaction whose message was changed', aTransaction, (bytes) => {
    const decoded = decodeTransaction(bytes);
    const genuine = TRANSACTIONS.map((it) => Buffer.from(it.subarray(65)).toString('hex'));
    if (!decoded.ok || !checkPayment(decoded.transaction, TERMS, POLICY).ok) return;
    assert.ok(genuine.includes(Buffer.from(bytes.subarray(65)).toString('hex')));
  }),
  fuzz('answer of a node', anResponse, (result) => {
    for (const read of READERS) orRefuses(ResponseShapeError, () => read(result));
  }),
  fuzz('landed transaction of a node', nearly(LANDED), (result) => {
    orRefuses(ResponseShapeError, () => readLandedTransaction(result));
  }),
  fuzz(
    'key pair',
    fc.oneof(nearlyText(JSON.stringify([...payer.secretKey])), nearlyBytes(fc.constant(payer.secretKey))),
    (it) => {
      const signer = orRefuses(TollhouseError, () => readKeypair(it, 'fuzz'));
      if (signer !== undefined) assert.ok(Buffer.from(signer.publicKey).equals(payer.publicKey.toBytes()));
    },
  ),
];
