import { CHAIN } from './chain.js';
import { SERVICE } from './service.js';
import { WIRE } from './wire.js';

// The long form: npm run fuzz.
const RUNS = 200;

test.each([...WIRE, ...SERVICE, ...CHAIN].map((it) => [it.name, it] as const))('%s', (_name, { run }) => run(RUNS));
