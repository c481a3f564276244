import type { VersionedMessage } from '@solana/web3.js';

/** Both versions of the memo program, the newest first. */
export const MEMO_PROGRAMS = [
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
] as const;

const PROGRAMS: ReadonlySet<string> = new Set(MEMO_PROGRAMS);

/** The memos of a message as nodes list them: `[length] text`, several joined by `; `, null where there are none. */
export function memoOf(message: VersionedMessage): string | null {
  const memos = message.compiledInstructions
    .filter(({ programIdIndex }) => PROGRAMS.has(message.staticAccountKeys[programIdIndex]?.toBase58() ?? ''))
    .map(({ data }) => `[${data.length}] ${Buffer.from(data).toString('utf8')}`);
  return memos.length === 0 ? null : memos.join('; ');
}
