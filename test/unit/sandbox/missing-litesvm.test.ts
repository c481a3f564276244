/**
 * A package is missing here.
 * @jest-environment node
 */
import { startSandbox } from '../../../src/sandbox/start-sandbox.js';

jest.mock('litesvm/dist/internal.js', () => {
  throw Object.assign(new Error("Cannot find module 'litesvm'"), { code: 'MODULE_NOT_FOUND' });
});

test('without litesvm the module loads, and the start says what to install', async () => {
  await expect(startSandbox()).rejects.toMatchObject({
    code: 'missing_dependency',
    message: expect.stringContaining('npm install --save-dev litesvm'),
  });
});
