import {
  AccountState,
  createInitializeDefaultAccountStateInstruction,
  createInitializeMint2Instruction,
  createInitializeMintCloseAuthorityInstruction,
  createInitializeNonTransferableMintInstruction,
  createInitializePausableConfigInstruction,
  createInitializePermanentDelegateInstruction,
  createInitializeTransferFeeConfigInstruction,
  createInitializeTransferHookInstruction,
  ExtensionType,
  getMintLen,
} from '@solana/spl-token';
import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import { badOption } from '../../errors/errors.js';
import { type AddressInput, addressText } from '../../protocol/address-input.js';
import type { Chain } from '../chain/chain.js';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../runtime/token-layout.js';
import type { Faucet } from './faucet.js';

/** Extensions of a Token-2022 mint. */
export interface MintExtensions {
  /** A share of every transfer is withheld: `basisPoints` hundredths of a percent, at most `maximumFee` atomic units. */
  readonly transferFee?: { readonly basisPoints: number; readonly maximumFee: bigint } | undefined;
  /** Every transfer calls this program. */
  readonly transferHook?: { readonly programId: AddressInput } | undefined;
  /** This address may move or burn anybody's tokens. */
  readonly permanentDelegate?: AddressInput | undefined;
  /** Tokens cannot be transferred at all. */
  readonly nonTransferable?: boolean | undefined;
  /** New token accounts start frozen. */
  readonly defaultFrozen?: boolean | undefined;
  /** The sandbox's treasury may stop all transfers. */
  readonly pausable?: boolean | undefined;
  /** Balances can be hidden. */
  readonly confidentialTransfer?: boolean | undefined;
  /** This address may close the mint. */
  readonly closeAuthority?: AddressInput | undefined;
}

/** What mint to create. */
export interface MintOptions {
  /** Digits after the decimal point, 0 to 255. Default 6. */
  readonly decimals?: number | undefined;
  /** Token program. Default SPL Token, or Token-2022 where extensions are given. */
  readonly program?: 'spl-token' | 'token-2022' | undefined;
  readonly extensions?: MintExtensions | undefined;
}

/** A mint that was created. */
export interface CreatedMint {
  readonly mint: string;
  readonly decimals: number;
  /** Address of the token program. */
  readonly program: string;
}

type Build<Name extends keyof MintExtensions> = (
  value: NonNullable<MintExtensions[Name]>,
  mint: PublicKey,
  authority: PublicKey,
) => TransactionInstruction;

const PROGRAM = new PublicKey(TOKEN_2022_PROGRAM);
const PROGRAMS = { 'spl-token': TOKEN_PROGRAM, 'token-2022': TOKEN_2022_PROGRAM } as const;

const EXTENSIONS: { readonly [Name in keyof Required<MintExtensions>]: readonly [ExtensionType, Build<Name>] } = {
  transferFee: [
    ExtensionType.TransferFeeConfig,
    ({ basisPoints, maximumFee }, mint, authority) =>
      createInitializeTransferFeeConfigInstruction(mint, authority, authority, basisPoints, maximumFee, PROGRAM),
  ],
  transferHook: [
    ExtensionType.TransferHook,
    ({ programId }, mint, authority) =>
      createInitializeTransferHookInstruction(mint, authority, keyOf(programId), PROGRAM),
  ],
  permanentDelegate: [
    ExtensionType.PermanentDelegate,
    (delegate, mint) => createInitializePermanentDelegateInstruction(mint, keyOf(delegate), PROGRAM),
  ],
  nonTransferable: [
    ExtensionType.NonTransferable,
    (_value, mint) => createInitializeNonTransferableMintInstruction(mint, PROGRAM),
  ],
  defaultFrozen: [
    ExtensionType.DefaultAccountState,
    (_value, mint) => createInitializeDefaultAccountStateInstruction(mint, AccountState.Frozen, PROGRAM),
  ],
  pausable: [
    ExtensionType.PausableConfig,
    (_value, mint, authority) => createInitializePausableConfigInstruction(mint, authority, PROGRAM),
  ],
  confidentialTransfer: [ExtensionType.ConfidentialTransferMint, (_value, mint) => confidentialTransfer(mint)],
  closeAuthority: [
    ExtensionType.MintCloseAuthority,
    (authority, mint) => createInitializeMintCloseAuthorityInstruction(mint, keyOf(authority), PROGRAM),
  ],
};

/**
 * Creates a mint at a new address; the sandbox's treasury may mint and freeze.
 *
 * @throws TollhouseError `bad_option` for extensions on SPL Token, or an unknown extension
 */
export function createMint(chain: Chain, faucet: Faucet, options: MintOptions = {}): CreatedMint {
  const { decimals = 6, extensions = {} } = options;
  const names = wantedExtensions(extensions);
  const kind = options.program ?? (names.length > 0 ? 'token-2022' : 'spl-token');
  if (!Object.hasOwn(PROGRAMS, kind) || (kind === 'spl-token' && names.length > 0)) {
    throw badOption(
      'createMint',
      'extensions need "program": "token-2022"; without them "spl-token" works too',
      'program',
    );
  }
  const program = new PublicKey(PROGRAMS[kind]);
  const authority = chain.treasury.publicKey;
  const mint = Keypair.generate();
  const space = names.length > 0 ? getMintLen(names.map((name) => EXTENSIONS[name][0])) : 82;
  const account = {
    fromPubkey: authority,
    newAccountPubkey: mint.publicKey,
    lamports: Number(chain.runtime.rentExempt(space)),
    space,
    programId: program,
  };
  const setUp = names.map((name) => buildExtension(name, extensions, mint.publicKey, authority));
  const initialize = createInitializeMint2Instruction(mint.publicKey, decimals, authority, authority, program);
  faucet.run([SystemProgram.createAccount(account), ...setUp, initialize]);
  return { mint: mint.publicKey.toBase58(), decimals, program: program.toBase58() };
}

function wantedExtensions(extensions: MintExtensions): (keyof MintExtensions)[] {
  const names = Object.entries(extensions).flatMap(([name, value]) =>
    value === undefined || value === false ? [] : [name],
  );
  const unknown = names.find((name) => !Object.hasOwn(EXTENSIONS, name));
  if (unknown !== undefined) {
    const known = Object.keys(EXTENSIONS).join(', ');
    throw badOption('createMint', `unknown extension "${unknown}"; the extensions are ${known}`, 'extensions');
  }
  return names as (keyof MintExtensions)[];
}

function buildExtension<Name extends keyof MintExtensions>(
  name: Name,
  extensions: MintExtensions,
  mint: PublicKey,
  authority: PublicKey,
): TransactionInstruction {
  const value = extensions[name];
  if (value === undefined) {
    throw badOption('createMint', `extension "${name}" has no value`, 'extensions');
  }
  return EXTENSIONS[name][1](value, mint, authority);
}

function keyOf(address: AddressInput): PublicKey {
  return new PublicKey(addressText(address) ?? '');
}

/** Not in @solana/spl-token: ConfidentialTransferExtension::InitializeMint, without authority or auditor, auto-approving. */
function confidentialTransfer(mint: PublicKey): TransactionInstruction {
  const data = Buffer.alloc(2 + 32 + 1 + 32);
  data.writeUInt8(27, 0);
  data.writeUInt8(1, 2 + 32);
  return new TransactionInstruction({
    programId: PROGRAM,
    keys: [{ pubkey: mint, isSigner: false, isWritable: true }],
    data,
  });
}
