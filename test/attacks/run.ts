// npm run attacks -- [hostile-wallet | name of a file below test/chain/adversarial]…
// A thousand attempts of a hostile wallet, and what they cost whom. Then every transaction that the adversarial tests see
// refused, shown to the reference facilitator on the same chain.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Verdict } from '../helpers/transactions/reference-verdict.js';
import { type AttackCost, measureHostileWallet } from './hostile-wallet.js';

const JEST = 'node_modules/jest/bin/jest.js';
const HOSTILE_WALLET = 'hostile-wallet';
/** The fee payer must not lose so many times what the attacker does. */
const MAX_RATIO = 20;

const names = process.argv.slice(2);
const files = names.filter((it) => it !== HOSTILE_WALLET).map((name) => `test/chain/adversarial/${name}`);
if (names.length === 0 || names.includes(HOSTILE_WALLET)) {
  const costs = await measureHostileWallet();
  console.log(costTable(costs));
  if (!costs.every(isBearable)) process.exit(1);
  if (files.length === 0 && names.length > 0) process.exit(0);
}

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

function isBearable({ feePayerLost, attackerLost, honest, honestServed }: AttackCost): boolean {
  return feePayerLost < MAX_RATIO * attackerLost && honestServed === honest;
}

function costTable(costs: readonly AttackCost[]): string {
  const lines = costs.map(({ attack, attempts, feePayerLost, attackerLost, honest, honestServed }) => {
    const ratio = (feePayerLost / attackerLost).toFixed(1);
    return `| ${attack} | ${attempts} | ${feePayerLost} | ${attackerLost} | ${ratio} | ${honestServed} of ${honest} |`;
  });
  return [
    'A hostile wallet, in lamports. Goods cost $0.001, and 1 SOL is worth $200; a transaction of its own costs it 5,000.',
    '',
    '| attack | attempts | fee payer lost | attacker lost | ratio | honest payer beside it served |',
    '|---|---:|---:|---:|---:|---:|',
    ...lines,
    '',
  ].join('\n');
}

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
