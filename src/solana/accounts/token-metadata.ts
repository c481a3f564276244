import { PublicKey } from '@solana/web3.js';
import { addressOf } from '../../protocol/address.js';
import type { AccountState } from '../rpc/rpc.js';
import { ByteReader, ByteReaderError } from '../transaction/byte-reader.js';

/** An address that metadata names, and whether its owner has signed that it does. */
export interface MetadataClaim {
  /** Base58. */
  readonly address: string;
  /** Anybody may name an address; only its owner verifies. */
  readonly verified: boolean;
}

/** What the metadata of a mint says of where it comes from. */
export interface TokenMetadata {
  readonly creators: readonly MetadataClaim[];
  /** Mint of the collection's own NFT. */
  readonly collection?: MetadataClaim;
}

/** The longest metadata account, padded as the older ones are. */
export const METADATA_BYTES = 679;

/** The program Token Metadata of Metaplex, base58. */
export const TOKEN_METADATA_PROGRAM = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s';
const METADATA_PROGRAM = new PublicKey(TOKEN_METADATA_PROGRAM);
const SEED = Buffer.from('metadata');
/** First byte of a metadata account; those of editions and of other things of the program have others. */
const METADATA_V1 = 4;
const MAX_TEXTS = { name: 32, symbol: 10, uri: 200 };
const MAX_CREATORS = 5;
/** How a token may be used: the method, and how often, in all and still. */
const USES_BYTES = 17;

/** Address of a mint's metadata account. Costs half a millisecond. */
export function metadataAddress(mint: string): string {
  const seeds = [SEED, METADATA_PROGRAM.toBytes(), new PublicKey(mint).toBytes()];
  return PublicKey.findProgramAddressSync(seeds, METADATA_PROGRAM)[0].toBase58();
}

/**
 * Reads the metadata of a mint as the program Token Metadata writes it: Borsh, each field in its place. Undefined where the
 * account is no metadata, or that of another mint.
 */
export function tokenMetadataOf(account: AccountState | null, mint: string): TokenMetadata | undefined {
  if (account === null || account.owner !== TOKEN_METADATA_PROGRAM) return undefined;
  return orNothing(() => {
    const reader = new ByteReader(account.data);
    if (reader.byte('key') !== METADATA_V1) return undefined;
    reader.take(32, 'update authority');
    if (addressOf(reader.take(32, 'mint')) !== mint) return undefined;
    const creators = readCreators(reader);
    // Accounts whose list of creators has shrunk may have rests of the longer one where the collection stands.
    const collection = orNothing(() => readCollection(reader));
    return { creators, ...(collection === undefined ? {} : { collection }) };
  });
}

function readCreators(reader: ByteReader): readonly MetadataClaim[] {
  for (const [name, most] of Object.entries(MAX_TEXTS)) reader.take(readLength(reader, most, name), name);
  reader.take(2, 'fee of the seller');
  if (!readFlag(reader, 'creators')) return [];
  return Array.from({ length: readLength(reader, MAX_CREATORS, 'creators') }, () => {
    const address = addressOf(reader.take(32, 'creator'));
    const verified = readFlag(reader, 'creator');
    reader.byte('share');
    return { address, verified };
  });
}

function readCollection(reader: ByteReader): MetadataClaim | undefined {
  readFlag(reader, 'primary sale');
  readFlag(reader, 'mutability');
  if (readFlag(reader, 'edition nonce')) reader.byte('edition nonce');
  if (readFlag(reader, 'token standard')) reader.byte('token standard');
  if (!readFlag(reader, 'collection')) return undefined;
  const verified = readFlag(reader, 'collection');
  const address = addressOf(reader.take(32, 'collection'));
  if (readFlag(reader, 'uses')) reader.take(USES_BYTES, 'uses');
  return { address, verified };
}

function readFlag(reader: ByteReader, what: string): boolean {
  const value = reader.byte(what);
  if (value > 1) throw new ByteReaderError(`its ${what} is neither there nor missing`);
  return value === 1;
}

function readLength(reader: ByteReader, most: number, what: string): number {
  const bytes = reader.take(4, what);
  const length = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
  if (length > most) throw new ByteReaderError(`its ${what} is too long`);
  return length;
}

function orNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ByteReaderError) return undefined;
    throw error;
  }
}
