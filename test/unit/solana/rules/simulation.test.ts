import { createAssociatedTokenAccountIdempotentInstruction } from '@solana/spl-token';
import { Keypair, PublicKey } from '@solana/web3.js';
import { REASONS, type Reason } from '../../../../src/protocol/reasons.js';
import { createSolanaRpc } from '../../../../src/solana/rpc/rpc-client.js';
import { explainFault } from '../../../../src/solana/rules/simulation.js';
import { readInstruction, type TokenTransfer } from '../../../../src/solana/transaction/instructions.js';
import { PROGRAMS } from '../../../../src/solana/transaction/programs.js';
import { decodeTransaction } from '../../../../src/solana/transaction/transaction.js';
import { closeRpcEndpoints, type ReceivedCall, startRpcEndpoint } from '../../../helpers/nodes/rpc-endpoint.js';
import { buildDraft } from '../../../helpers/transactions/draft.js';
import { memo, transferChecked } from '../../../helpers/transactions/raw-instructions.js';

afterEach(closeRpcEndpoints);

const fresh = () => Keypair.generate().publicKey.toBase58();
const [PAYER, SELLER, MINT, SOURCE, DESTINATION, OTHER_SOURCE, OTHER_DESTINATION] = Array.from(
  { length: 7 },
  fresh,
) as [string, string, string, string, string, string, string];
const parts = { mint: MINT, authority: PAYER, amount: 5n, decimals: 6, program: PROGRAMS.token };

/** Signed by the fee payer and the payer. Position of the creation: 1; of the transfers: 2 and 3. */
const INSTRUCTIONS = [
  memo('order 7'),
  createAssociatedTokenAccountIdempotentInstruction(
    ...([PAYER, DESTINATION, SELLER, MINT].map((it) => new PublicKey(it)) as [
      PublicKey,
      PublicKey,
      PublicKey,
      PublicKey,
    ]),
  ),
  transferChecked({ ...parts, source: SOURCE, destination: DESTINATION }),
  transferChecked({ ...parts, source: OTHER_SOURCE, destination: OTHER_DESTINATION }),
];
const [CREATION, SECOND_TRANSFER] = [1, 3];

function decodedTransaction() {
  const bytes = buildDraft({
    version: 0,
    feePayer: fresh(),
    blockhash: fresh(),
    instructions: INSTRUCTIONS,
    signers: [],
  });
  const decoded = decodeTransaction(bytes);
  if (!decoded.ok) throw new Error(decoded.detail);
  return decoded.transaction;
}

interface Scene {
  readonly sponsored?: boolean;
  /** Whether a transfer of tokens pays; or SOL is paid. */
  readonly tokens?: boolean;
  /** Accounts that there are not. */
  readonly missing?: readonly string[];
}

/** How an error is explained, and which accounts were asked for. */
async function explained(err: unknown, { sponsored = true, tokens = true, missing = [] }: Scene = {}) {
  const account = { lamports: 1, owner: PROGRAMS.token, data: ['', 'base64'] };
  const listed = ({ params }: ReceivedCall) => params[0] as readonly string[];
  const endpoint = await startRpcEndpoint((call) => ({
    result: { value: listed(call).map((it) => (missing.includes(it) ? null : account)) },
  }));
  const rpc = createSolanaRpc({ urls: endpoint.url });
  const transaction = decodedTransaction();
  const pays = readInstruction(transaction.instructions[2]!) as TokenTransfer;
  const fault = await explainFault(err, { transaction, transfer: tokens ? pays : undefined, sponsored }, rpc);
  await rpc.close();
  return { fault, asked: endpoint.calls.map(listed) };
}

function payers(reason: Reason, message: string = REASONS[reason]) {
  return { blame: 'payer', reason, message };
}

const rentless = (index: unknown) => ({ InsufficientFundsForRent: { account_index: index } });
const failed = (position: unknown, inner: unknown) => ({ InstructionError: [position, inner] });
const FAILED = 'invalid_exact_svm_transaction_simulation_failed';
const unexplained = (text: string) => payers(FAILED, `The transaction would fail on the chain: ${text}.`);

const DRY = ['AccountNotFound', 'InsufficientFundsForFee', rentless(0)];

test.each(DRY)('a fee payer that cannot pay is the fault of whose key it is [%#]', async (err) => {
  expect(await explained(err, { sponsored: true })).toEqual({
    fault: { blame: 'operator', message: 'The fee payer of the facilitator cannot pay the network fee.' },
    asked: [],
  });
  expect(await explained(err, { sponsored: false })).toEqual({
    fault: payers('insufficient_funds', 'The payer does not hold enough SOL for the payment and its network fee.'),
    asked: [],
  });
});

const LEFT = 'The transfer would leave an account with less SOL than an account must hold; pay less, or all of it.';
const SENT =
  'A recipient holds no SOL yet, and the amount is less than an account must hold (about 0.0009 SOL); it needs a larger first payment.';
const NO_SOL_FOR_ACCOUNT =
  'The recipient has no token account for this token yet, and the payer does not hold the SOL that its creation costs (about 0.0021 SOL). Top up SOL, or let the recipient create the account first.';

test.each([
  ['a signer is left with too little SOL', rentless(1), payers('insufficient_funds', LEFT)],
  ['somebody is sent too little SOL', rentless(2), payers(FAILED, SENT)],
  ['the blockhash is unknown', 'BlockhashNotFound', payers('invalid_exact_svm_blockhash_expired')],
  ['it was processed before', 'AlreadyProcessed', payers('duplicate_settlement')],
  ['the payer holds too little', failed(2, { Custom: 1 }), payers('insufficient_funds')],
  [
    'an account is frozen',
    failed(2, { Custom: 17 }),
    payers(FAILED, 'The token account of the payer or of the recipient is frozen.'),
  ],
  [
    'the creation of an account cannot be paid',
    failed(CREATION, { Custom: 1 }),
    payers('invalid_exact_svm_recipient_token_account_missing', NO_SOL_FOR_ACCOUNT),
  ],
  [
    'an account that is created is frozen',
    failed(CREATION, { Custom: 17 }),
    payers(FAILED, 'The token account of the payer or of the recipient is frozen.'),
  ],
  ['an instruction that there is not', failed(9, { Custom: 1 }), payers('insufficient_funds')],
])('an error that says enough is explained without asking the chain: %s', async (_what, err, fault) => {
  expect(await explained(err)).toEqual({ fault, asked: [] });
});

test.each([
  ['the source', [SOURCE], 'invalid_exact_svm_payer_token_account_missing'],
  ['the destination', [DESTINATION], 'invalid_exact_svm_recipient_token_account_missing'],
  ['both', [SOURCE, DESTINATION], 'invalid_exact_svm_payer_token_account_missing'],
] as const)('where the error does not say what is missing, the chain is asked: %s', async (_what, missing, reason) => {
  for (const err of ['InvalidAccountForFee', failed(0, 'InvalidAccountData'), failed(9, 'InvalidAccountData')]) {
    const asked = [[SOURCE, DESTINATION]];
    expect(await explained(err, { missing })).toEqual({ fault: payers(reason), asked });
  }
});

test('the chain is asked for the accounts of the transfer that failed, of several', async () => {
  const missing = [OTHER_DESTINATION];
  expect(await explained(failed(SECOND_TRANSFER, 'InvalidAccountData'), { missing })).toEqual({
    fault: payers('invalid_exact_svm_recipient_token_account_missing'),
    asked: [[OTHER_SOURCE, OTHER_DESTINATION]],
  });
});

test.each([
  ['a name', 'AccountInUse'],
  ['something with a position', { DuplicateInstruction: 3 }],
  ['an instruction with a name', failed(2, 'InvalidAccountData')],
  ['a creation with a name', failed(CREATION, 'IllegalOwner')],
  ['an instruction with a number that nobody knows', failed(2, { Custom: 99 })],
  ['an instruction with nothing', failed(2, null)],
  ['rent without an account', { InsufficientFundsForRent: null }],
  ['rent of an account without a number', { InsufficientFundsForRent: {} }],
  ['an instruction error that is no list', { InstructionError: 'all of it' }],
])('everything else is told as the chain said it: %s', async (_what, err) => {
  expect((await explained(err)).fault).toEqual(unexplained(JSON.stringify(err)));
});

test('where SOL is paid no token account is asked for', async () => {
  expect(await explained('AccountInUse', { tokens: false })).toEqual({
    fault: unexplained('"AccountInUse"'),
    asked: [],
  });
});

test('what the chain said is cut off after 200 characters', async () => {
  const err = 'x'.repeat(300);
  expect((await explained(err)).fault).toEqual(unexplained(`"${'x'.repeat(199)}`));
});
