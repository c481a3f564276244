import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERRORS } from '../../src/errors/errors.js';
import type { SetupCode } from '../../src/facilitator/setup/setup-finding.js';
import { REASONS } from '../../src/protocol/reasons.js';

const SRC = join(__dirname, '../../src');
const PAGE = join(SRC, 'errors/codes.md');
const BEGIN = '## Errors\n';

const row = (...cells: readonly string[]) => `| ${cells.join(' | ')} |`;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [row(...head), row(...head.map(() => '---')), ...rows.map((cells) => row(...cells))].join('\n');
}

/** What the page says, from the tables of the code. */
function generated(): string {
  const errors = Object.entries(ERRORS).map(([code, { status, title, retryable }]) => [
    `\`${code}\``,
    String(status),
    title,
    retryable ? 'may succeed' : 'fails again',
  ]);
  const reasons = Object.entries(REASONS).map(([code, text]) => [`\`${code}\``, text]);
  return [
    BEGIN,
    table(['code', 'status', 'means', 'the same request later'], errors),
    '',
    '## Reasons why a payment was refused',
    '',
    'In `code` of a 402 and in `invalidReason` and `errorReason` of x402; those that the reference has keep its spelling.',
    '',
    table(['reason', 'means'], reasons),
    '',
  ].join('\n');
}

/** Names of all warnings in the code; those of the set-up are made from its findings. */
function warningsInCode(): string[] {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const text = files.map((file) => readFileSync(join(SRC, file), 'utf8')).join('\n');
  const written = [...text.matchAll(/'(TOLLHOUSE_[A-Z_]+)'/g)].map(([, code = '']) => code);
  return [...new Set([...written, ...FINDINGS.map((code) => `TOLLHOUSE_${code.toUpperCase()}`)])].sort();
}

const FINDINGS = Object.keys({
  rpc_unreachable: 1,
  rpc_behind: 1,
  wrong_network: 1,
  no_inner_instructions: 1,
  websocket_unreachable: 1,
  fee_payer_empty: 1,
  fee_payer_low: 1,
  payments_elsewhere: 1,
  store_unreachable: 1,
  store_unwritable: 1,
  store_full: 1,
  store_moved: 1,
  answers_unreachable: 1,
  counters_unreachable: 1,
  recipient_not_wallet: 1,
  recipient_is_fee_payer: 1,
  recipient_account_missing: 1,
  recipient_account_frozen: 1,
  recipient_account_foreign: 1,
  recipient_account_needs_memo: 1,
  price_unreadable: 1,
  mint_missing: 1,
  mint_mismatch: 1,
  mint_refused: 1,
  mint_shown_scaled: 1,
  facilitator_unreachable: 1,
  facilitator_other_network: 1,
  facilitator_degraded: 1,
} satisfies Record<SetupCode, 1>);

describe('the page of errors', () => {
  test('lists every error and every reason as the code has them; WRITE_PAGES=1 writes it', () => {
    const page = readFileSync(PAGE, 'utf8');
    const [head = ''] = page.split(BEGIN);
    const wanted = head + generated();
    if (process.env['WRITE_PAGES'] === '1') writeFileSync(PAGE, wanted);
    else expect(page).toBe(wanted);
  });

  test('explains every warning, and none that there is not', () => {
    const explained = [...readFileSync(PAGE, 'utf8').matchAll(/^\| `(TOLLHOUSE_[A-Z_]+)`/gm)].map(([, code]) => code);
    expect(explained.sort()).toEqual(warningsInCode());
  });
});
