import { printStep } from '../output/terminal.js';
import type { Key } from './find-key.js';

/** Prints what a key may, and for whom it is. */
export function printKey(key: Key): void {
  const { expires_at, last_used_at, previous_secret_expires_at, revoked_at } = key;
  const notes = Object.entries(key.metadata).map(([name, text]) => `${name}=${text}`);
  printStep('key', `${key.id} (${key.name})`);
  printStep('state', `${key.status}, for ${key.mode === 'test' ? 'test money' : 'money'}`);
  const lines: readonly (readonly [label: string, text: string | null])[] = [
    ['scopes', key.scopes.join(', ')],
    ['budget', budgetText(key.spending) ?? null],
    ['project', key.project_id],
    ['calls', listOf(key.allowed_projects)],
    ['comes from', listOf(key.allowed_ips)],
    ['notes', listOf(notes)],
    ['expires', expires_at],
    ['used', last_used_at],
    ['old secret', previous_secret_expires_at === null ? null : `good until ${previous_secret_expires_at}`],
    ['revoked', revoked_at],
  ];
  for (const [label, text] of lines) if (text !== null) printStep(label, text);
}

/** `10 USDC/day`. */
export function budgetText(spending: Key['spending']): string | undefined {
  return spending === null ? undefined : `${spending.limit} ${spending.token}/${spending.window}`;
}

function listOf(texts: readonly string[]): string | null {
  return texts.length === 0 ? null : texts.join(', ');
}
