import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { exportPayments } from '../../../src/cli/books/export-payments.js';
import type { PayoutRecord } from '../../../src/storage/payouts/payout-store.js';
import { testFolder } from '../../helpers/processes/test-folder.js';

const folder = testFolder();
const payout: PayoutRecord = {
  ...{ id: 'pyo_1', projectId: 'prj_1', owner: 'owner', network: 'solana-devnet', wallet: 'wallet', mint: 'mint' },
  ...{ state: 'paid', legs: [{ recipient: 'recipient', amount: 7n }], total: 7n, createdAt: 1, updatedAt: 1 },
};

/** Books of many payouts, and of no payments; `fault` is what comes of reading those. */
function booksOf(fault?: Error) {
  const told: string[] = [];
  const state = { asked: 0, isClosed: false, told };
  const reader: Parameters<typeof exportPayments>[0] = {
    counts: async () => [],
    async *payoutSignatures() {},
    async *payouts() {
      try {
        for (let page = 0; page < 4; page += 1) yield Array<PayoutRecord>(256).fill(payout);
      } finally {
        state.isClosed = true;
      }
    },
    async *pages() {
      state.asked += 1;
      if (fault !== undefined) throw fault;
      yield [];
    },
  };
  const progress = { show: (text: string) => void told.push(text), end: () => undefined };
  const into = (out: string) => exportPayments(reader, { format: 'jsonl', range: {}, out, tokens: [] }, progress);
  return { state, into };
}

describe('an export', () => {
  test('that breaks off leaves no file, so that it can be made again, and reads nothing on', async () => {
    const file = folder.newPath('jsonl');
    const broken = booksOf(new Error('the database is away'));
    await expect(broken.into(file)).rejects.toThrow('the database is away');
    expect(readdirSync(dirname(file)).filter((name) => name.includes(basename(file)))).toEqual([]);
    expect(broken.state.isClosed).toBe(true);

    expect(await booksOf().into(file)).toEqual({ payments: 0, payouts: 1_024 });
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(1_025);
  });

  test('into a file that is there is refused before anything is read, and the file stays', async () => {
    const file = folder.newPath('jsonl');
    writeFileSync(file, 'mine');
    const { state, into } = booksOf();
    await expect(into(file)).rejects.toThrow('is there already; name another file');
    expect([state.asked, readFileSync(file, 'utf8')]).toEqual([0, 'mine']);
  });

  test('into a folder that is not there names the file that was asked for, and what to do', async () => {
    const file = `${folder.newPath('folder')}/it.jsonl`;
    await expect(booksOf().into(file)).rejects.toThrow(
      `--out: "${file}" cannot be written (there is no such file, or no such folder: ENOENT); name a file in a folder`,
    );
  });

  test('tells how many payouts it has written, too', async () => {
    const file = folder.newPath('jsonl');
    const { state, into } = booksOf();
    await into(file);
    expect(state.told.at(-1)).toMatch(/^0 payments, [1-9]\d* payouts$/);
  });
});
