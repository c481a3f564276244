import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder of a test file's own, made at once and removed after its last test. */
export function testFolder() {
  const path = mkdtempSync(join(tmpdir(), 'tollhouse-test-'));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  let files = 0;
  return {
    path,
    /** A path where nothing is yet. */
    newPath: (extension: string): string => {
      files += 1;
      return join(path, `${files}.${extension}`);
    },
  };
}
