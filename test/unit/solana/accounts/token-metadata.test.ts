import fc from 'fast-check';
import { metadataAddress, tokenMetadataOf } from '../../../../src/solana/accounts/token-metadata.js';
import type { AccountState } from '../../../../src/solana/rpc/rpc.js';
import { METADATA_PROGRAM, type MetadataFields, metadataBytes } from '../../../helpers/transactions/nft.js';
import { walletKey } from '../../../helpers/transactions/wallet-key.js';

const MINT = walletKey('mint').address;
const [maker, other] = [walletKey('maker').address, walletKey('other').address];
const accountOf = (data: Uint8Array, owner = METADATA_PROGRAM): AccountState => ({ lamports: 1n, owner, data });
const readingOf = (fields: Omit<MetadataFields, 'mint'>) =>
  tokenMetadataOf(accountOf(metadataBytes({ mint: MINT, ...fields })), MINT);

const named = fc.record({ address: fc.constantFrom(maker, other, MINT), verified: fc.boolean() });
const ascii = (most: number) => fc.string({ unit: 'grapheme-ascii', maxLength: most });
const orMissing = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const metadata = fc.record(
  {
    mint: fc.constant(MINT),
    name: ascii(32),
    symbol: ascii(10),
    uri: ascii(200),
    creators: orMissing(fc.array(named, { maxLength: 5 })),
    collection: orMissing(named),
    editionNonce: orMissing(fc.nat({ max: 255 })),
    tokenStandard: orMissing(fc.nat({ max: 5 })),
    uses: fc.boolean(),
    padded: fc.boolean(),
  },
  {
    requiredKeys: [
      'mint',
      'name',
      'symbol',
      'uri',
      'creators',
      'collection',
      'editionNonce',
      'tokenStandard',
      'uses',
      'padded',
    ],
  },
) as fc.Arbitrary<MetadataFields>;

describe('the metadata of a token', () => {
  test('tells its creators and its collection, whatever else it says', () => {
    fc.assert(
      fc.property(metadata, (fields) => {
        const { creators = [], collection } = fields;
        const expected = { creators, ...(collection === undefined ? {} : { collection }) };
        expect(tokenMetadataOf(accountOf(metadataBytes(fields)), MINT)).toEqual(expected);
      }),
    );
  });

  test('that is cut off tells nothing that it did not say as a whole', () => {
    fc.assert(
      fc.property(metadata, fc.double({ min: 0, max: 1, noNaN: true }), (fields, share) => {
        const bytes = metadataBytes(fields);
        const read = tokenMetadataOf(accountOf(bytes.subarray(0, Math.floor(bytes.length * share))), MINT);
        expect([undefined, ...(fields.creators ?? [])]).toEqual(expect.arrayContaining([...(read?.creators ?? [])]));
        expect([undefined, fields.collection]).toContainEqual(read?.collection);
      }),
    );
  });

  test('of any bytes is read without a fault, and verifies nobody who is not in them', () => {
    const head = metadataBytes({ mint: MINT }).subarray(0, 65);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 700 }), fc.boolean(), (tail, isBegun) => {
        const read = tokenMetadataOf(accountOf(isBegun ? Buffer.concat([head, tail]) : tail), MINT);
        expect(read?.creators.filter(({ address }) => address === maker) ?? []).toEqual([]);
        expect(read?.collection?.address).not.toBe(maker);
      }),
    );
  });

  test.each<[string, AccountState | null]>([
    ['nothing', null],
    ['an account of another program', accountOf(metadataBytes({ mint: MINT }), other)],
    ['the metadata of another mint', accountOf(metadataBytes({ mint: other }))],
    ['an edition', accountOf(Buffer.concat([Buffer.of(6), metadataBytes({ mint: MINT }).subarray(1)]))],
    ['a name of four gigabytes', accountOf(metadataBytes({ mint: MINT }).fill(255, 65, 69))],
  ])('is not %s', (_what, account) => {
    expect(tokenMetadataOf(account, MINT)).toBeUndefined();
  });

  test('whose list of creators has left rests behind it still tells its creators', () => {
    const bytes = metadataBytes({ mint: MINT, creators: [{ address: maker, verified: true }] });
    bytes.fill(9, bytes.lastIndexOf(100) + 1);
    expect(tokenMetadataOf(accountOf(bytes), MINT)).toEqual({ creators: [{ address: maker, verified: true }] });
  });

  test('is read from a part of a larger buffer', () => {
    const padded = Buffer.concat([
      Buffer.alloc(13, 1),
      metadataBytes({ mint: MINT, collection: { address: maker, verified: true } }),
    ]);
    expect(tokenMetadataOf(accountOf(padded.subarray(13)), MINT)).toMatchObject({ collection: { address: maker } });
    expect(readingOf({})).toEqual({ creators: [] });
  });

  test('is where the program keeps it', () => {
    // USDC's, as explorers show it.
    const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
    expect(metadataAddress(usdc)).toBe('5x38Kp4hvdomTCnCrAny4UtMUt5rQBdB6px2K1Ui45Wq');
  });
});
