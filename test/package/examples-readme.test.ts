import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { payingFetch } from '../helpers/http/official-clients.js';
import { type Block, blocksOf, isTypeScript, typeErrors } from '../helpers/processes/snippets.js';
import { receiptOf } from '../helpers/transactions/payments.js';

const FOLDER = join(__dirname, '../../examples');
const README = readFileSync(join(FOLDER, 'README.md'), 'utf8');
const SNIPPETS = blocksOf(README).filter(isTypeScript);

/** Runs a snippet as it stands, with what its reader has already as arguments. */
function run({ code }: Block, context: Readonly<Record<string, unknown>>): void {
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
  });
  const all = { require, exports: {}, ...context };
  Reflect.construct(Function, [...Object.keys(all), outputText]).call(undefined, ...Object.values(all));
}

describe('the README of the examples', () => {
  let fixture: TollFixture;

  beforeAll(async () => {
    fixture = await openTollFixture();
  });
  afterAll(() => fixture.close());

  test('lists every example', () => {
    const listed = [...README.matchAll(/\]\(([\w-]+\.ts)\)/g)].map(([, name]) => name);
    expect(listed.sort()).toEqual(readdirSync(FOLDER).filter((name) => name.endsWith('.ts')));
  });

  test('has two snippets, which type-check', () => {
    expect(SNIPPETS).toHaveLength(2);
    expect(typeErrors({ 'examples/README.md': SNIPPETS })).toEqual([]);
  });

  test.each(SNIPPETS)(
    'the snippet at line $line runs, and the official client pays for the weather',
    async (snippet) => {
      const { facilitator, payTo, payer, sandbox } = fixture;
      const url = await fixture.serve((app) => {
        run(snippet, { app, facilitator, payTo });
        app.get('/weather', (_req, res) => res.send('sunny'));
      });
      expect((await fetch(`${url}/weather`)).status).toBe(402);
      const answer = await (await payingFetch({ wallet: payer, rpcUrl: sandbox.rpcUrl }))(`${url}/weather`);
      expect([answer.status, await answer.text()]).toEqual([200, 'sunny']);
      expect(receiptOf(answer)).toMatchObject({ success: true });
    },
  );
});
