import {
  AuthorityType,
  createApproveInstruction,
  createAssociatedTokenAccountIdempotentInstruction,
  createBurnInstruction,
  createCloseAccountInstruction,
  createSetAuthorityInstruction,
} from '@solana/spl-token';
import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import { withFirst, withLast } from '../../helpers/transactions/honest-draft.js';
import { type Scene, useArena } from '../../helpers/transactions/hostile.js';
import { instruction } from '../../helpers/transactions/raw-instructions.js';

const arena = useArena();
const stranger = Keypair.generate().publicKey;

function keysOf({ transfer, terms }: Scene) {
  const { source, authority, mint } = transfer;
  const addresses = { source, authority, mint, feePayer: terms.feePayer! };
  return Object.fromEntries(Object.entries(addresses).map(([name, text]) => [name, new PublicKey(text)])) as Record<
    keyof typeof addresses,
    PublicKey
  >;
}

const EXTRAS: readonly [string, (keys: ReturnType<typeof keysOf>) => TransactionInstruction][] = [
  [
    'a transfer of lamports from the fee payer',
    ({ feePayer }) => SystemProgram.transfer({ fromPubkey: feePayer, toPubkey: stranger, lamports: 1 }),
  ],
  [
    'a transfer of lamports from the payer',
    ({ authority }) => SystemProgram.transfer({ fromPubkey: authority, toPubkey: stranger, lamports: 0 }),
  ],
  [
    'the making of a token account at the expense of the fee payer',
    ({ feePayer, mint }) => createAssociatedTokenAccountIdempotentInstruction(feePayer, stranger, stranger, mint),
  ],
  [
    'SetAuthority',
    ({ source, authority }) => createSetAuthorityInstruction(source, authority, AuthorityType.CloseAccount, stranger),
  ],
  ['CloseAccount', ({ source, authority }) => createCloseAccountInstruction(source, stranger, authority)],
  ['Approve', ({ source, authority }) => createApproveInstruction(source, stranger, authority, 1n)],
  ['Burn', ({ source, mint, authority }) => createBurnInstruction(source, mint, authority, 1n)],
  ['a call of the first memo program', () => instruction('Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo', [], [65])],
  [
    'the check of further signatures, each at the price of one of ours',
    () => instruction('Ed25519SigVerify111111111111111111111111111', [], [0, 0]),
  ],
  ['a call of a program that nobody knows', () => instruction(stranger.toBase58(), [], [])],
];

describe.each([
  ['before', withFirst],
  ['after', withLast],
])('%s the transfer', (_place, added) => {
  test.each(EXTRAS)('%s is refused', (_name, extra) =>
    arena().refuses({
      reason: 'invalid_exact_svm_payload_unknown_optional_instruction',
      hostile: (honest, scene) => added(honest, extra(keysOf(scene))),
    }),
  );
});
