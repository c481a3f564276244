import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Express } from 'express';
import ts from 'typescript';
import * as tollhouse from '../../../src/index.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signIn } from '../../helpers/http/sign-in.js';
import { blocksOf } from '../../helpers/processes/snippets.js';
import { type WalletKey, walletKey } from '../../helpers/transactions/wallet-key.js';

const GUIDE = readFileSync(join(__dirname, '../../../src/middleware/gates.md'), 'utf8');

describe.each(DAILY_EXPRESSES)('the delegation example of the guide, on %s', (name, express) => {
  const [cold, hot, stranger] = ['cold', 'hot', 'stranger'].map((it) => walletKey(`guide ${it} ${name}`)) as [
    WalletKey,
    WalletKey,
    WalletKey,
  ];
  let fixture: TollFixture;
  let url: string;

  beforeAll(async () => {
    fixture = await openTollFixture({ slotMs: 0, confirmedAfterSlots: 0 });
    const code = blocksOf(GUIDE).find((block) => block.code.includes('createDelegations({'))?.code ?? '';
    const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, esModuleInterop: true };
    // The sandbox has its own USDC.
    const { outputText } = ts.transpileModule(code.replace(/(?<=mint = ')\w+/, 'USDC'), { compilerOptions });
    const modules = new Map<string, unknown>([
      ['express', express],
      ['tollhouse', tollhouse],
    ]);
    const run = new Function('require', 'exports', 'app', 'facilitator', 'handler', outputText);
    url = await fixture.serve((app: Express) => {
      app.set('env', 'test');
      run(
        (it: string) => modules.get(it),
        {},
        app,
        fixture.facilitator,
        () => {},
      );
    }, express);
  });
  afterAll(() => fixture.close());

  async function send(method: string, by: WalletKey, body?: unknown, path = '/stand-for') {
    const init = { method, headers: { 'content-type': 'application/json' } };
    const headers = { ...init.headers, ...(await signIn(by, `${url}${path}`, init)) };
    return fetch(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  }

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['an empty object', {}],
    ['null', [null]],
    ['numbers', { message: 1, signature: 1 }],
    ['lists', { message: ['x'], signature: ['x'] }],
    ['a text that is none', { message: 'x', signature: 'x' }],
    ['a text without end', { message: 'x'.repeat(9_000), signature: 'x' }],
    ['a name of every object', { message: '__proto__', signature: 'constructor' }],
  ])('answers %s with 400, and goes on', async (_what, body) => {
    expect((await send('POST', stranger, body)).status).toBe(400);
    expect((await send('GET', stranger, undefined, `/stand-for/${cold.address}`)).status).toBe(200);
  });

  test('takes what the cold wallet has signed, and takes it back', async () => {
    const message = await (await send('GET', hot, undefined, `/stand-for/${cold.address}`)).text();
    const taken = await send('POST', hot, { message, signature: cold.sign(message) });
    expect([taken.status, await taken.json()]).toEqual([200, { holder: cold.address }]);
    expect((await send('DELETE', hot)).status).toBe(200);
    expect((await send('POST', hot, { message, signature: cold.sign(message) })).status).toBe(400);
  });
});
