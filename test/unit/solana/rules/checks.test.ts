import { Keypair } from '@solana/web3.js';
import fc from 'fast-check';
import { KNOWN_TOKENS } from '../../../../src/protocol/networks/tokens.js';
import { REASONS, type Reason } from '../../../../src/protocol/reasons.js';
import type { Terms } from '../../../../src/protocol/types.js';
import { CHECKS, checkPayment, subjectOf } from '../../../../src/solana/rules/checks.js';
import { associatedTokenAddress } from '../../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../../src/solana/transaction/programs.js';
import { type DecodedTransaction, decodeTransaction } from '../../../../src/solana/transaction/transaction.js';
import { buildDraft, type Draft } from '../../../helpers/transactions/draft.js';
import {
  honestDraft,
  honestTransfer,
  withBudget,
  withLast,
  withMemo,
  withTransfer,
} from '../../../helpers/transactions/honest-draft.js';
import {
  computeBudget,
  guard,
  instruction,
  memo,
  transferChecked,
  unitPrice,
} from '../../../helpers/transactions/raw-instructions.js';

const [feePayer, secondKey, payer, seller] = [0, 1, 2, 3].map(() => Keypair.generate()) as [
  Keypair,
  Keypair,
  Keypair,
  Keypair,
];
const [token] = KNOWN_TOKENS['solana-devnet'];
const TERMS: Terms = {
  scheme: 'exact',
  network: 'solana-devnet',
  asset: token!.mint,
  amount: 10_000n,
  payTo: seller.publicKey.toBase58(),
  maxTimeoutSeconds: 60,
  feePayer: feePayer.publicKey.toBase58(),
};
const POLICY = {
  managedKeys: new Set([feePayer, secondKey].map(({ publicKey }) => publicKey.toBase58())),
  maxFeeLamports: 100_000n,
};
const plan = { terms: TERMS, payer, token: token!, blockhash: Keypair.generate().publicKey.toBase58() };
const HONEST = honestDraft(plan);
const TRANSFER = honestTransfer(plan);
const stranger = Keypair.generate().publicKey.toBase58();

function decoded(draft: Draft): DecodedTransaction {
  const result = decodeTransaction(buildDraft(draft));
  if (!result.ok) throw new Error(result.detail);
  return result.transaction;
}

interface Case {
  readonly reason: Reason;
  readonly draft?: Draft;
  readonly terms?: Terms;
}

const { feePayer: _offered, ...WITHOUT_FEE_PAYER } = TERMS;
const signedMemo = memo('signed', [{ address: TRANSFER.authority, signs: true }]);

/** For each rule, by its name, a payment that is good but for it. */
const BROKEN: Readonly<Record<string, Case>> = {
  'scheme is exact': { reason: 'invalid_exact_svm_unsupported_scheme', terms: { ...TERMS, scheme: 'upto' } },
  'terms name a fee payer': { reason: 'invalid_exact_svm_payload_missing_fee_payer', terms: WITHOUT_FEE_PAYER },
  'fee payer is ours': {
    reason: 'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
    draft: { ...HONEST, feePayer: stranger },
    terms: { ...TERMS, feePayer: stranger },
  },
  'no lookup tables': {
    reason: 'invalid_exact_svm_payload_address_lookup_tables',
    draft: {
      ...HONEST,
      changeMessage: (it) => Buffer.concat([it.subarray(0, -1), Buffer.of(1), Buffer.alloc(32, 7), Buffer.of(0, 0)]),
    },
  },
  'first account is the fee payer': {
    reason: 'invalid_exact_svm_fee_payer_mismatch',
    draft: { ...HONEST, feePayer: secondKey.publicKey.toBase58() },
  },
  'signers are the fee payer and the payer': {
    reason: 'invalid_exact_svm_payload_excessive_signers',
    draft: withLast(HONEST, memo('me too', [{ address: stranger, signs: true }])),
  },
  'instruction count': {
    reason: 'invalid_exact_svm_payload_transaction_instructions_length',
    draft: withLast(HONEST, ...Array.from({ length: 9 }, () => guard(2))),
  },
  'no durable nonce': {
    reason: 'invalid_exact_svm_payload_durable_nonce',
    draft: withLast(HONEST, instruction(PROGRAMS.system, [], [4, 0, 0, 0])),
  },
  'compute unit limit': {
    reason: 'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction',
    draft: withBudget(HONEST, computeBudget(2, 1)),
  },
  'compute unit price': {
    reason: 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction',
    draft: withBudget(HONEST, unitPrice(1n), unitPrice(1n)),
  },
  'known instructions only': {
    reason: 'invalid_exact_svm_payload_unknown_optional_instruction',
    draft: withLast(HONEST, instruction(stranger, [], [])),
  },
  'no key of ours in an instruction': {
    reason: 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds',
    draft: withLast(HONEST, guard(2, [secondKey.publicKey.toBase58()])),
  },
  'one transfer': {
    reason: 'invalid_exact_svm_payload_no_transfer_instruction',
    draft: withTransfer(withMemo(HONEST, signedMemo)),
  },
  'source is not ours': {
    reason: 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds',
    draft: withTransfer(
      HONEST,
      transferChecked({
        ...TRANSFER,
        source: associatedTokenAddress(secondKey.publicKey.toBase58(), TERMS.asset, PROGRAMS.token),
      }),
    ),
  },
  'network fee under the cap': {
    reason: 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high',
    draft: withBudget(HONEST, unitPrice(1_000_000n)),
  },
  'mint is the asset': {
    reason: 'invalid_exact_svm_payload_mint_mismatch',
    draft: withTransfer(HONEST, transferChecked({ ...TRANSFER, mint: stranger })),
  },
  'destination is the token account of payTo': {
    reason: 'invalid_exact_svm_payload_recipient_mismatch',
    draft: withTransfer(HONEST, transferChecked({ ...TRANSFER, destination: stranger })),
  },
  'amount is exact': {
    reason: 'invalid_exact_svm_payload_amount_mismatch',
    draft: withTransfer(HONEST, transferChecked({ ...TRANSFER, amount: TERMS.amount + 1n })),
  },
  memos: { reason: 'invalid_exact_svm_payload_memo_mismatch', terms: { ...TERMS, memo: 'order 7' } },
  'the transfer names nothing else': {
    reason: 'invalid_exact_svm_payload_transfer_names_others',
    draft: withTransfer(
      HONEST,
      instruction(
        PROGRAMS.token,
        [...accountsOfTransfer(), { address: TRANSFER.authority, signs: true }, stranger],
        transferData(),
      ),
    ),
  },
  'the payer is the authority': {
    reason: 'invalid_exact_svm_payload_excessive_signers',
    draft: withMemo(
      withTransfer(HONEST, instruction(PROGRAMS.token, [...accountsOfTransfer(), stranger], transferData())),
      signedMemo,
    ),
  },
  "payer's signature": { reason: 'invalid_exact_svm_payload_signature_invalid', draft: { ...HONEST, signers: [] } },
};

function accountsOfTransfer() {
  const { source, mint, destination } = TRANSFER;
  return [{ address: source, written: true }, mint, { address: destination, written: true }];
}

function transferData(): Buffer {
  return transferChecked(TRANSFER).data;
}

test('every rule has a payment that breaks it, and no rule is missing', () => {
  expect(Object.keys(BROKEN).sort()).toEqual(CHECKS.map(({ name }) => name).sort());
});

test.each(Object.entries(BROKEN))('%s: broken', (name, { reason, draft = HONEST, terms = TERMS }) => {
  const subject = subjectOf(decoded(draft), terms, POLICY);
  const first = CHECKS.find((check) => check.run(subject) !== undefined);
  expect(first?.name).toBe(name);
  const { requiredSignatures, accounts } = subject.transaction;
  const signer = requiredSignatures > 1 ? { payer: accounts[1] } : {};
  expect(checkPayment(subject.transaction, terms, POLICY)).toEqual({
    ok: false,
    reason,
    message: REASONS[reason],
    ...signer,
  });
});

test('each rule can be asked by itself, whatever else is broken', () => {
  for (const { draft = HONEST, terms = TERMS } of Object.values(BROKEN)) {
    const subject = subjectOf(decoded(draft), terms, POLICY);
    for (const check of CHECKS) expect(() => check.run(subject)).not.toThrow();
  }
});

test('who only is named and does not sign is not told as the payer', () => {
  const draft = { ...HONEST, instructions: [guard(2, [{ address: TRANSFER.authority, written: true }])] };
  const { accounts, requiredSignatures } = decoded(draft);
  expect([accounts[1], requiredSignatures]).toEqual([TRANSFER.authority, 1]);
  const reason = 'invalid_exact_svm_payload_excessive_signers';
  expect(checkPayment(decoded(draft), TERMS, POLICY)).toEqual({ ok: false, reason, message: REASONS[reason] });
});

test.each(CHECKS.map((check) => [check.name, check] as const))('%s: kept', (_name, check) => {
  expect(check.run(subjectOf(decoded(HONEST), TERMS, POLICY))).toBeUndefined();
});

test('a payment that keeps every rule names its payer and its transfer', () => {
  const transfer = {
    kind: 'token-transfer',
    program: TRANSFER.program,
    source: TRANSFER.source,
    mint: TRANSFER.mint,
    destination: TRANSFER.destination,
    authority: TRANSFER.authority,
    amount: TRANSFER.amount,
    others: [],
  };
  expect(checkPayment(decoded(HONEST), TERMS, POLICY)).toEqual({
    ok: true,
    payment: { payer: payer.publicKey.toBase58(), transfer },
  });
});

test('instructions may stand in any order', () => {
  const parts = withLast(HONEST, guard(2), guard(10, [TERMS.feePayer!])).instructions;
  fc.assert(
    fc.property(fc.shuffledSubarray([...parts], { minLength: parts.length }), (instructions) => {
      expect(checkPayment(decoded({ ...HONEST, instructions }), TERMS, POLICY).ok).toBe(true);
    }),
  );
});

test('with any one byte changed, but for the slot of the fee payer, a payment is refused', () => {
  const honest = buildDraft(HONEST);
  fc.assert(
    fc.property(fc.nat({ max: honest.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const bytes = Uint8Array.from(honest);
      bytes[at] = (bytes[at] ?? 0) ^ change;
      const result = decodeTransaction(bytes);
      const good = result.ok && checkPayment(result.transaction, TERMS, POLICY).ok;
      expect(good).toBe(at >= 1 && at < 65);
    }),
    { numRuns: 600 },
  );
});

test('no transaction of other instructions is good, however they are put together', () => {
  const wallets = [feePayer, secondKey, payer, seller].map(({ publicKey }) => publicKey.toBase58());
  const addresses = fc.constantFrom(...wallets, TRANSFER.source, TRANSFER.mint, TRANSFER.destination, stranger);
  const account = fc.record({ address: addresses, signs: fc.boolean(), written: fc.boolean() });
  const anything = fc
    .tuple(
      fc.constantFrom(...Object.values(PROGRAMS)),
      fc.array(account, { maxLength: 5 }),
      fc.oneof(
        fc.uint8Array({ maxLength: 12 }),
        fc.nat({ max: 255 }).map((first) => Buffer.concat([Buffer.of(first), transferData().subarray(1)])),
      ),
    )
    .map((parts) => instruction(...parts));
  fc.assert(
    fc.property(fc.array(anything, { maxLength: 4 }), fc.boolean(), (extra, first) => {
      const instructions = first ? [...extra, ...HONEST.instructions] : [...HONEST.instructions, ...extra];
      const draft = { ...HONEST, instructions, signers: [feePayer, secondKey, payer, seller] };
      const bytes = buildDraft(draft);
      fc.pre(bytes.length <= 1_232);
      const result = decodeTransaction(bytes);
      if (!result.ok || !checkPayment(result.transaction, TERMS, POLICY).ok) return;
      // What is good has nothing in it but compute budget, memos and guards, and no key of ours but the fee payer in a guard.
      const harmless: readonly string[] = [PROGRAMS.memo, PROGRAMS.lighthouse, PROGRAMS.computeBudget];
      for (const { programId, keys, data } of extra) {
        const program = programId.toBase58();
        expect(harmless).toContain(program);
        const isGuard = program === PROGRAMS.lighthouse;
        if (isGuard) expect([2, 3, 4, 5, 6, 7, 8, 9, 10]).toContain(data[0]);
        const named = keys.map(({ pubkey }) => pubkey.toBase58()).filter((it) => POLICY.managedKeys.has(it));
        expect(named.filter((it) => !isGuard || it !== TERMS.feePayer)).toEqual([]);
      }
    }),
    { numRuns: 400 },
  );
});
