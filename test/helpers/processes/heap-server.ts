// `tollhouse serve` in a process of its own. A line with a path makes it write there what its memory holds, and tell its
// environment.
import { createInterface } from 'node:readline';
import { writeHeapSnapshot } from 'node:v8';
import { serve } from '../../../src/cli/operator/serve.js';

createInterface({ input: process.stdin }).on('line', (path) => {
  writeHeapSnapshot(path);
  console.log(`environment ${JSON.stringify(process.env)}`);
});
await serve.run(['--port', '0']);
