import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { endOf, runFile, stopFiles } from '../helpers/processes/run-file.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { openSmallDisk } from '../helpers/storage/small-disk.js';

const FULL_DEVICE = '/dev/full';
const onLinux = existsSync(FULL_DEVICE) ? test : test.skip;
const folder = testFolder();

afterAll(stopFiles);

const keep = () => ({ XDG_STATE_HOME: folder.newPath('state'), XDG_CONFIG_HOME: folder.newPath('config') });

async function into(path: string, ...args: readonly string[]) {
  const file = openSync(path, 'a');
  const child = runFile('src/cli/main.ts', args, keep(), file);
  closeSync(file);
  return endOf(child);
}

onLinux.each([[['help']], [['keygen', '--print']], [['keys', '--help']]])(
  'a command whose output cannot be written fails, and says why: %j',
  async (args) => {
    expect(await into(FULL_DEVICE, ...args)).toMatchObject({
      code: 1,
      text: expect.stringMatching(/tollhouse: standard output takes no more \(the disk is full: ENOSPC\)\n$/),
    });
  },
);

test('a command whose reader has gone fails without a word', async () => {
  const child = runFile('src/cli/main.ts', ['help'], keep());
  child.stdout?.destroy();
  expect(await endOf(child)).toMatchObject({ code: 1, text: '' });
});

const PAGE = 4_096;
const ROOM = 96;
const disk = openSmallDisk(1);
afterAll(() => disk?.remove());

// Elsewhere only the administrator makes disks.
(disk === undefined ? test.skip : test)('a command whose output has room for its beginning only fails', async () => {
  const path = `${disk?.path}/half`;
  // The file system gives pages: of this one something is left.
  writeFileSync(path, 'x'.repeat(PAGE - ROOM));
  await disk?.leave(0);
  const { code, text } = await into(path, 'help');
  expect([code, text]).toEqual([1, expect.stringContaining('the disk is full: ENOSPC')]);
  expect(readFileSync(path).length).toBe(PAGE);
});
