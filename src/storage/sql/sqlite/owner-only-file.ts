import { open } from 'node:fs/promises';

const OWNER_ONLY = 0o600;

/**
 * Makes an empty file that nobody but its owner can read, as books hold secrets of webhooks and of who pays; SQLite fills it, and gives
 * the files beside it the same rights. One that is there keeps its own. What cannot be made is told by whoever opens it.
 */
export async function makeOwnerOnlyFile(path: string): Promise<void> {
  const file = await open(path, 'ax', OWNER_ONLY).catch(() => undefined);
  await file?.close();
}
