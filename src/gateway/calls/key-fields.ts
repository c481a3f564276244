import type { ServiceKey } from '../../identity/service-keys/service-key-types.js';

/** Most bytes of the notes of a key that go upstream: servers bound their headers. */
const MAX_BYTES = 4_096;
const NOT_ASCII = /[\u007f-\uffff]/g;

/**
 * What an upstream is told of the key that a call came with: `X-Tollhouse-Key`, its id, and `X-Tollhouse-Key-Metadata`, its owner's
 * notes as JSON in ASCII. Notes beyond 4,096 bytes are left out, the last ones first.
 */
export function keyFields({ id, metadata }: Pick<ServiceKey, 'id' | 'metadata'>): Readonly<Record<string, string>> {
  const notes = Object.entries(metadata);
  let text = asciiJson(notes);
  while (text.length > MAX_BYTES) {
    notes.pop();
    text = asciiJson(notes);
  }
  return { 'x-tollhouse-key': id, ...(notes.length === 0 ? {} : { 'x-tollhouse-key-metadata': text }) };
}

function asciiJson(notes: readonly (readonly [string, string])[]): string {
  const escaped = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(Object.fromEntries(notes)).replace(NOT_ASCII, escaped);
}
