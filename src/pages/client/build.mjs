// Bundles the scripts of the pages into one module of texts, `client-scripts.ts` beside this folder, which is not committed.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, '../client-scripts.ts');
const SCRIPTS = [
  { name: 'PAYWALL_SCRIPT', entry: 'paywall-page.ts', format: 'iife', what: 'The script of the paywall page.' },
  {
    name: 'ELEMENT_SCRIPT',
    entry: 'tollhouse.ts',
    format: 'es',
    what: "The module of the paywall in a site's own page.",
  },
  { name: 'RECEIPT_SCRIPT', entry: 'receipt-page.ts', format: 'iife', what: 'The script of receipts.' },
  { name: 'LISTING_SCRIPT', entry: 'listing-page.ts', format: 'iife', what: 'The script of a listing.' },
  { name: 'DOCS_SCRIPT', entry: 'docs-page.ts', format: 'iife', what: 'The script of the API document.' },
];

const written = await Promise.all(SCRIPTS.map(bundle));
const text = `// Written by client/build.mjs.\n${written.join('')}`;
// Whole or not at all: several test runs may write it at once.
if (!existsSync(target) || readFileSync(target, 'utf8') !== text) {
  const draft = `${target}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, target);
}

async function bundle({ name, entry, format, what }) {
  const bundling = await rolldown({
    input: join(here, entry),
    platform: 'browser',
    tsconfig: false,
    onLog: () => undefined,
  });
  const { output } = await bundling.generate({ format, minify: true });
  return `/** ${what} */\nexport const ${name} = ${JSON.stringify(output[0].code)};\n`;
}
