// npm run attacks -- [name of a file below test/chain/adversarial]…
// Every transaction that the adversarial tests see refused, shown to the reference facilitator on the same chain.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Verdict } from '../helpers/reference-verdict.js';

const JEST = 'node_modules/jest/bin/jest.js';
const files = process.argv.slice(2).map((name) => `test/chain/adversarial/${name}`);

const folder = mkdtempSync(join(tmpdir(), 'attacks-'));
const out = join(folder, 'verdicts');
writeFileSync(out, '');
const status = await run(files.length === 0 ? ['test/chain/adversarial'] : files);
const verdicts = readFileSync(out, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Verdict);
rmSync(folder, { recursive: true });

console.log(table(verdicts));
console.log(summary(verdicts));
// A test that failed is a transaction that ours did not refuse, or not for nothing.
process.exit(status === 0 && verdicts.length > 0 ? 0 : 1);

async function run(tests: readonly string[]): Promise<number> {
  const env = { ...process.env, ATTACKS_OUT: out };
  const child = spawn(process.execPath, [JEST, '--silent', ...tests], { env, stdio: ['ignore', 2, 2] });
  const [code] = await once(child, 'close');
  return typeof code === 'number' ? code : 1;
}

function table(rows: readonly Verdict[]): string {
  const lines = rows.map(({ attack, ours, lost, sellerPaid, reference }) => {
    const theirs = reference ?? (sellerPaid ? '**settled**, seller paid' : '**settled**, seller not paid');
    return `| ${cell(attack)} | ${cell(ours)} | 0 | ${cell(theirs)} | ${lost} |`;
  });
  const head = '| attack | ours: refused with | lamports lost | reference | lamports lost |\n|---|---|---:|---|---:|';
  return [head, ...lines.sort()].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('invalid_exact_svm_', '…');
}

function summary(rows: readonly Verdict[]): string {
  const settled = rows.filter(({ reference }) => reference === undefined);
  const lost = rows.reduce((sum, row) => sum + BigInt(row.lost), 0n);
  const unpaid = settled.filter(({ sellerPaid }) => !sellerPaid).length;
  return [
    '',
    `${rows.length} transactions. Ours settled none and lost 0 lamports.`,
    `The reference settled ${settled.length}, of which ${unpaid} did not pay the seller, and lost ${lost} lamports.`,
  ].join('\n');
}
