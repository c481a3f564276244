import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildPackage } from '../helpers/processes/built-package.js';

const PROGRAM = join(__dirname, 'clients/beside-server.mjs');
const run = promisify(execFile);

let build: string;

beforeAll(async () => {
  build = await buildPackage();
});
afterAll(() => rmSync(build, { recursive: true, force: true }));

// The clients of others need packages of their own: test/package/clients.mjs.
describe.each([
  ['official-v2', 'payment-response'],
  ['official-v1', 'x-payment-response'],
])('the client %s pays gates that settle after and before, and a project', (client, receipt) => {
  test.each([
    ['in a process of its own', 'apart'],
    ['in the process of the server, loaded before it', 'client'],
    ['in the process of the server, loaded after that has asked the chain', 'server'],
  ])('%s', async (_where, first) => {
    const order = { build, express: 'express', client: `./${client}.mjs`, first };
    const { stdout } = await run(process.execPath, [PROGRAM, JSON.stringify(order)]);
    const { answers, body, cost, spent, earned } = JSON.parse(stdout);
    const served = { status: 200, text: body, receipts: [receipt] };
    expect(answers).toEqual([served, served, served]);
    expect([spent, earned]).toEqual([cost, cost]);
  });
});
