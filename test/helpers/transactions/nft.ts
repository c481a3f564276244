import { PublicKey } from '@solana/web3.js';
import { addressBytes } from '../../../src/protocol/address.js';
import type { Sandbox } from '../../../src/sandbox/start-sandbox.js';
import type { MintOptions } from '../../../src/sandbox/tokens/create-mint.js';

/** An address in metadata, and whether it is verified. */
export interface Named {
  readonly address: string;
  readonly verified: boolean;
}

/** The fields of metadata that tests choose. */
export interface MetadataFields {
  readonly mint: string;
  readonly name?: string;
  readonly symbol?: string;
  readonly uri?: string;
  readonly creators?: readonly Named[];
  readonly collection?: Named;
  readonly editionNonce?: number;
  readonly tokenStandard?: number;
  readonly uses?: boolean;
  /** Whether texts are filled up with zeros to their greatest length, and the account to 679 bytes, as the program did until 2024. */
  readonly padded?: boolean;
}

/** The program Token Metadata. */
export const METADATA_PROGRAM = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s';

/** Bytes of a metadata account: Borsh, by the program's own struct. */
export function metadataBytes(fields: MetadataFields): Uint8Array {
  const {
    mint,
    name = 'NFT',
    symbol = 'N',
    uri = 'https://nft.example/1',
    padded = true,
    creators,
    collection,
  } = fields;
  const u32 = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return bytes;
  };
  const text = (value: string, most: number): Buffer => {
    const bytes = Buffer.from(value);
    const filled = padded ? Buffer.concat([bytes, Buffer.alloc(most - bytes.length)]) : bytes;
    return Buffer.concat([u32(filled.length), filled]);
  };
  const option = (value: Buffer | undefined): Buffer =>
    value === undefined ? Buffer.of(0) : Buffer.concat([Buffer.of(1), value]);
  const people = creators?.map(({ address, verified }) =>
    Buffer.concat([addressBytes(address), Buffer.of(Number(verified), 100)]),
  );
  const { editionNonce, tokenStandard, uses } = fields;
  const bytes = Buffer.concat([
    Buffer.of(4),
    Buffer.alloc(32, 7),
    addressBytes(mint),
    ...[text(name, 32), text(symbol, 10), text(uri, 200), Buffer.of(0, 0)],
    option(people && Buffer.concat([u32(people.length), ...people])),
    Buffer.of(0, 1),
    option(editionNonce === undefined ? undefined : Buffer.of(editionNonce)),
    option(tokenStandard === undefined ? undefined : Buffer.of(tokenStandard)),
    option(collection && Buffer.concat([Buffer.of(Number(collection.verified)), addressBytes(collection.address)])),
    option(uses ? Buffer.alloc(17, 1) : undefined),
    Buffer.of(0, 0),
  ]);
  return padded ? Buffer.concat([bytes, Buffer.alloc(679 - bytes.length)]) : bytes;
}

/** Writes the metadata of a mint to the chain; a `program` of one's own makes it a forgery. */
export function setMetadata(sandbox: Sandbox, fields: MetadataFields, program = METADATA_PROGRAM): void {
  const of = new PublicKey(METADATA_PROGRAM);
  const seeds = [Buffer.from('metadata'), of.toBytes(), new PublicKey(fields.mint).toBytes()];
  const [address] = PublicKey.findProgramAddressSync(seeds, of);
  const state = { lamports: 5_616_720n, owner: program, data: metadataBytes(fields), executable: false };
  sandbox.setAccount(address.toBase58(), state);
}

/** A new NFT, and whose it is. */
export interface NftOptions extends Omit<MetadataFields, 'mint'>, Pick<MintOptions, 'decimals' | 'program'> {
  readonly owner: string;
  /** Atomic units. Default 1. */
  readonly amount?: bigint;
}

/** Makes an NFT with metadata and gives it to a wallet; answers its mint. */
export function giveNft(sandbox: Sandbox, options: NftOptions): string {
  const { owner, amount = 1n, decimals = 0, program = 'spl-token', ...fields } = options;
  const { mint } = sandbox.createMint({ decimals, program });
  setMetadata(sandbox, { mint, ...fields });
  sandbox.fundToken(owner, mint, amount);
  return mint;
}
