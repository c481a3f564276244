import { localPresence } from '../../src/storage/sql/presence/local-presence.js';

/** Larger than any number of a process. */
const NO_PROCESS = 999_999_999;

describe('the presence of a process on one machine', () => {
  const { id, isGone } = localPresence();
  const [place = '', pid = '', start = ''] = id.split('/');

  test('holds while it runs', async () => {
    expect(await isGone(id)).toBe(false);
    expect(await isGone(`${place}/${process.ppid}/`)).toBe(true);
  });

  test.each([
    ['a number that no process has', `${place}/${NO_PROCESS}/${start}`],
    ['a number that another process has by now', `${place}/${pid}/1`],
  ])('is over at %s', async (_what, other) => {
    expect(await isGone(other)).toBe(true);
  });

  test.each([
    ['on another machine', `other-${place}/${NO_PROCESS}/${start}`],
    ['in another container of this machine', `${place.replace(/-\d*$/, '-1')}/${NO_PROCESS}/${start}`],
    ['whose name says nothing', 'a name'],
  ])('is not known of one %s', async (_what, other) => {
    expect(await isGone(other)).toBe(false);
  });
});
