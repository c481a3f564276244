import { Keypair } from '@solana/web3.js';
import { KNOWN_TOKENS } from '../../../../src/protocol/networks/tokens.js';
import type { Terms } from '../../../../src/protocol/types.js';
import { buildPaymentTransaction } from '../../../../src/solana/building/payment-transaction.js';
import { checkPayment } from '../../../../src/solana/rules/checks.js';
import { type DecodedTransaction, decodeTransaction } from '../../../../src/solana/transaction/transaction.js';
import { buildDraft } from '../../../helpers/transactions/draft.js';
import { honestDraft } from '../../../helpers/transactions/honest-draft.js';

const payer = Keypair.generate();
const fresh = () => Keypair.generate().publicKey.toBase58();
const blockhash = fresh();
const feePayer = fresh();
const tokens = KNOWN_TOKENS['solana-devnet'];

function termsFor(asset: string): Terms {
  const offer = { scheme: 'exact', network: 'solana-devnet', maxTimeoutSeconds: 60 } as const;
  return { ...offer, asset, amount: 10_000n, payTo: fresh(), feePayer };
}

function built(terms: Terms, token: { readonly program: string; readonly decimals: number }): Uint8Array {
  const { asset, amount, payTo, memo } = terms;
  const { program: tokenProgram, decimals } = token;
  const transfer = { asset, tokenProgram, decimals, amount, payTo };
  return buildPaymentTransaction({ payer, feePayer, blockhash, ...transfer, ...(memo === undefined ? {} : { memo }) });
}

function decoded(bytes: Uint8Array): DecodedTransaction {
  const result = decodeTransaction(bytes);
  if (!result.ok) throw new Error(result.detail);
  return result.transaction;
}

test('the tokens of the list stand under both token programs', () => {
  expect(new Set(tokens.map(({ program }) => program)).size).toBe(2);
});

test.each(tokens.map((token) => [token.symbol, token] as const))(
  'it is, byte for byte, what the official client builds: %s',
  (_symbol, token) => {
    const terms = { ...termsFor(token.mint), memo: 'order 7' };
    const expected = buildDraft(honestDraft({ terms, payer, token, blockhash }));
    expect(Buffer.from(built(terms, token)).toString('hex')).toBe(Buffer.from(expected).toString('hex'));
  },
);

test('it keeps the rules of the scheme', () => {
  const [token] = tokens;
  const terms = termsFor(token!.mint);
  const policy = { managedKeys: new Set([feePayer]), maxFeeLamports: 10_001n };
  expect(checkPayment(decoded(built(terms, token!)), terms, policy)).toMatchObject({
    ok: true,
    payment: { payer: payer.publicKey.toBase58() },
  });
});

test('equal payments differ by their memo: 32 random hexadecimal characters', () => {
  const [token] = tokens;
  const terms = termsFor(token!.mint);
  const memos = Array.from({ length: 3 }, () => {
    const { data } = decoded(built(terms, token!)).instructions.at(-1)!;
    return Buffer.from(data).toString();
  });
  for (const memo of memos) expect(memo).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(memos).size).toBe(memos.length);
});

test('a wallet that is none is refused by name', () => {
  const input = { feePayer, asset: fresh(), tokenProgram: tokens[0]!.program, decimals: 6, amount: 1n, payTo: fresh() };
  expect(() => buildPaymentTransaction({ ...input, payer: 'nonsense', blockhash })).toThrow(
    /^buildPaymentTransaction: option "keypair"/,
  );
});
