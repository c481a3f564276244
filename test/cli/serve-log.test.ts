import { runFile, stopFiles } from '../helpers/processes/run-file.js';
import { until } from '../helpers/until.js';

afterAll(stopFiles);

test('the log of a server is JSON lines on standard output, and standard error stays free of it', async () => {
  const child = runFile('src/cli/main.ts', ['serve', '--json', '--port', '0'], {
    DATABASE_URL: 'memory:',
    LOG_LEVEL: 'info',
  });
  let [out, err] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    out += String(chunk);
  });
  child.stderr?.on('data', (chunk) => {
    err += String(chunk);
  });
  const urlOf = () => /"url": "(http[^"]+)"/.exec(out)?.[1];
  await until(() => urlOf() !== undefined);
  await fetch(`${urlOf()}/demo`);
  const lines = () => out.split('\n').filter((line) => line.startsWith('{"level"'));
  await until(() => lines().some((line) => line.includes('/demo')));
  expect(JSON.parse(lines().at(-1) ?? '')).toMatchObject({ level: expect.anything(), time: expect.any(String) });
  expect(err).not.toContain('{"level"');
});
