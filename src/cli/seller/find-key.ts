import type { z } from 'zod';
import { KEYS_PATHS, keyResponse } from '../../http/keys/schemas.js';
import { selectItem } from '../arguments/select-item.js';
import { type ServerSession, understood } from '../session/session.js';

/** A service key as its owner sees it. */
export type Key = z.output<typeof keyResponse>;

/** Neither a public part nor, mostly, a name is written like it. */
const ID = /^key_/;

/** The key, revoked or not, that an id, a public part or a name names. */
export async function selectKey(session: ServerSession, name: string): Promise<Key> {
  return select(await allKeys(session), name);
}

/** The same of those that are not revoked. */
export async function selectLivingKey(session: ServerSession, name: string): Promise<Key> {
  return select(
    (await allKeys(session)).filter(({ status }) => status !== 'revoked'),
    name,
  );
}

/** The id of a key of which something is read. */
export async function readableKey(session: ServerSession, name: string): Promise<string> {
  return ID.test(name) ? name : (await selectKey(session, name)).id;
}

/** The names of the keys of the signed-in wallet, by their ids. */
export async function keyNames(session: ServerSession): Promise<ReadonlyMap<string, string>> {
  return new Map((await allKeys(session)).map(({ id, name }) => [id, name]));
}

async function allKeys(session: ServerSession): Promise<readonly Key[]> {
  return (await session.list(KEYS_PATHS.all)).map((it) => understood(keyResponse, it));
}

function select(keys: readonly Key[], name: string): Key {
  return selectItem(keys, { what: 'key', name, namesOf: (key) => [key.id, key.api_key, key.name] });
}
