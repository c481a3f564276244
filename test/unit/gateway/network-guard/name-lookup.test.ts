import { lookup as systemLookup } from 'node:dns/promises';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createNameLookup,
  type Lookup,
  type NameLookupOptions,
} from '../../../../src/gateway/network-guard/name-lookup.js';
import { type NameAnswer, type NameServer, startNameServer } from '../../../helpers/nodes/name-server.js';
import { until } from '../../../helpers/until.js';

/** Longer than a test takes: what is silent is under way until a name server speaks. */
const LONG_MS = 120_000;
const V6 = '2606:4700:0000:0000:0000:0000:0000:1111';

/** What is known of a name; silent names speak when they are let. */
let said: Record<string, { A?: NameAnswer; AAAA?: NameAnswer }>;
let isSilenceOver: boolean;
let server: NameServer;
let folder: string;
const unfinished: Promise<unknown>[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'names-'));
  server = await startNameServer((name, type) => {
    if (name.endsWith('silent.test')) return isSilenceOver ? undefined : 'silent';
    const found = said[name];
    return found && (type in found ? found[type] : []);
  });
});
beforeEach(() => {
  said = { 'shop.test': { A: ['203.0.113.7', '203.0.113.8'] } };
  isSilenceOver = false;
});
afterEach(async () => {
  endSilence();
  await Promise.all(unfinished.splice(0));
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

function endSilence(): void {
  isSilenceOver = true;
  server.speak();
}

const lookupWith = (options: NameLookupOptions = {}): Lookup =>
  createNameLookup({ servers: [server.address], files: { hosts: fileOf(''), resolver: fileOf('') }, ...options });

let files = 0;
function fileOf(text: string): string {
  files += 1;
  const path = join(folder, String(files));
  writeFileSync(path, text);
  return path;
}

/** Why a name was not resolved; its addresses where it was. */
const outcomeOf = (answer: Promise<readonly string[]>) => answer.catch(({ code, reason }) => [code, reason]);
/** Asks and does not wait: a test ends when the name server speaks and all have ended. */
function begin(answer: Promise<readonly string[]>) {
  const outcome = outcomeOf(answer);
  unfinished.push(outcome);
  return outcome;
}
const UNKNOWN = ['ENOTFOUND', 'unknown'];
const SILENT = ['EAI_AGAIN', 'silent'];
const CROWDED = ['EAI_AGAIN', 'crowded'];

describe('a name', () => {
  test('has all addresses of both kinds', async () => {
    said['both.test'] = { A: ['203.0.113.7'], AAAA: [V6] };
    await expect(lookupWith()('shop.test')).resolves.toEqual(['203.0.113.7', '203.0.113.8']);
    await expect(lookupWith()('both.test')).resolves.toEqual(['203.0.113.7', '2606:4700::1111']);
  });

  test.each([['nothing.test'], ['empty.test'], ['a..b'], [`${'a'.repeat(64)}.test`]])('%s is unknown', async (name) => {
    said['empty.test'] = {};
    await expect(outcomeOf(lookupWith()(name))).resolves.toEqual(UNKNOWN);
  });

  test('whose name server is silent is told so in the time that there is', async () => {
    const lookup = lookupWith({ timeoutMs: 200 });
    await expect(outcomeOf(lookup('a.silent.test'))).resolves.toEqual(SILENT);
    await expect(lookup('a.silent.test')).rejects.toThrow(
      'a.silent.test: no name server has told its addresses in time',
    );
  });

  test('whose name server tells one kind and is silent of the other has those that it tells', async () => {
    said['half.test'] = { A: ['203.0.113.9'], AAAA: 'silent' };
    said['other-half.test'] = { A: 'silent' };
    const lookup = lookupWith({ timeoutMs: 200 });
    await expect(lookup('half.test')).resolves.toEqual(['203.0.113.9']);
    await expect(outcomeOf(lookup('other-half.test'))).resolves.toEqual(SILENT);
  });

  test('is silent where no name server listens', async () => {
    const gone = await startNameServer(() => 'silent');
    gone.close();
    await expect(outcomeOf(lookupWith({ servers: [gone.address], timeoutMs: 300 })('shop.test'))).resolves.toEqual(
      SILENT,
    );
  });

  test('is asked for anew each time: what it resolves to may have changed', async () => {
    const lookup = lookupWith();
    await expect(lookup('shop.test')).resolves.toHaveLength(2);
    said['shop.test'] = { A: ['127.0.0.1'] };
    await expect(lookup('shop.test')).resolves.toEqual(['127.0.0.1']);
  });
});

describe('while many names are silent', () => {
  test("names that are answered do not wait for them, nor do those of the system's resolver", async () => {
    const lookup = lookupWith({ timeoutMs: LONG_MS });
    const ended: unknown[] = [];
    for (let i = 0; i < 60; i += 1) begin(lookup(`${i}.silent.test`, 'attacker')).then((it) => ended.push(it));
    await until(() => server.asked.includes('59.silent.test A'));
    await expect(lookup('shop.test', 'honest')).resolves.toHaveLength(2);
    await expect(systemLookup('localhost')).resolves.toBeDefined();
    expect(ended).toEqual([]);
  });

  test('the oldest of whoever has most gives way, and none of the others', async () => {
    const lookup = lookupWith({ atOnce: 4, timeoutMs: LONG_MS });
    const ended: string[] = [];
    const asked = (name: string, owner: string) =>
      begin(lookup(`${name}.silent.test`, owner)).then((it) => {
        ended.push(name);
        return it;
      });
    asked('honest', 'honest');
    const first = asked('1', 'attacker');
    for (const name of ['2', '3']) asked(name, 'attacker');
    await until(() => server.asked.includes('3.silent.test A'));
    expect(ended).toEqual([]);
    const second = asked('4', 'attacker');
    await expect(first).resolves.toEqual(CROWDED);
    await expect(lookup('shop.test', 'another')).resolves.toHaveLength(2);
    await expect(Promise.race([second, lookup('shop.test')])).resolves.toHaveLength(2);
    expect(ended).toEqual(['1', '2']);
  });

  test('a name that gave way is asked for no more', async () => {
    const lookup = lookupWith({ atOnce: 1, timeoutMs: 400 });
    const timesAsked = (name: string) => server.asked.filter((it) => it === `${name}.silent.test A`).length;
    const older = begin(lookup('older.silent.test', 'attacker'));
    await until(() => timesAsked('older') > 0);
    const newer = begin(lookup('newer.silent.test', 'attacker'));
    await expect(older).resolves.toEqual(CROWDED);
    await until(() => timesAsked('newer') > 0);
    const before = timesAsked('older');
    // As long as the older one would have been asked for, several times.
    await expect(newer).resolves.toEqual(SILENT);
    expect(timesAsked('older')).toBe(before);
  });
});

describe('a name that is being looked up', () => {
  const timesAsked = (name: string) => server.asked.filter((it) => it === `${name} A`).length;

  test('is asked for once for an owner, and again for another one, whom it cannot be taken from', async () => {
    const lookup = lookupWith({ atOnce: 2, timeoutMs: LONG_MS });
    const mine = [begin(lookup('once.silent.test', 'me')), begin(lookup('once.silent.test', 'me'))];
    const theirs = begin(lookup('once.silent.test', 'attacker'));
    await until(() => timesAsked('once.silent.test') === 2);
    begin(lookup('more.silent.test', 'attacker'));
    await expect(theirs).resolves.toEqual(CROWDED);
    await until(() => timesAsked('more.silent.test') === 1);
    endSilence();
    said['again.test'] = { A: ['203.0.113.7'] };
    await expect(lookup('again.test', 'me')).resolves.toHaveLength(1);
    await expect(lookup('again.test', 'me')).resolves.toHaveLength(1);
    expect(timesAsked('again.test')).toBe(2);
    await Promise.all(mine);
  });
});

describe('what the system knows of names', () => {
  test('the hosts file comes before name servers, and is read again when it has changed', async () => {
    const hosts = fileOf(
      '# 10.0.0.1 shop.test\n10.0.0.2\thost.docker.internal Shop.Test # here\nfd00::2 shop.test\nx y\n',
    );
    const lookup = lookupWith({ files: { hosts, resolver: fileOf('') } });
    await expect(lookup('shop.test')).resolves.toEqual(['10.0.0.2', 'fd00::2']);
    await expect(lookup('host.docker.internal')).resolves.toEqual(['10.0.0.2']);
    await expect(outcomeOf(lookup('y'))).resolves.toEqual(UNKNOWN);
    writeFileSync(hosts, '10.0.0.30 inner\n');
    await expect(lookup('inner')).resolves.toEqual(['10.0.0.30']);
    await expect(lookup('shop.test')).resolves.toEqual(['203.0.113.7', '203.0.113.8']);
  });

  test('localhost is this machine, also where no file says so', async () => {
    const files = { hosts: join(folder, 'none'), resolver: join(folder, 'none') };
    await expect(lookupWith({ files })('localhost')).resolves.toEqual(['127.0.0.1', '::1']);
    const named = { hosts: fileOf('127.0.0.5 localhost'), resolver: fileOf('') };
    await expect(lookupWith({ files: named })('localhost')).resolves.toEqual(['127.0.0.5']);
  });

  test.each([
    ['search shop.internal. lan', 'api', ['api.shop.internal', 'api.lan', 'api']],
    ['search shop.internal lan', 'api.eu', ['api.eu', 'api.eu.shop.internal', 'api.eu.lan']],
    ['search shop.internal\noptions rotate ndots:3', 'a.b.c', ['a.b.c.shop.internal', 'a.b.c']],
    ['search shop.internal\noptions ndots:2', 'a.b.c', ['a.b.c', 'a.b.c.shop.internal']],
    ['search old\ndomain lan # here', 'api', ['api.lan', 'api']],
    ['search lan', 'api.', ['api']],
    ['nameserver 10.0.0.1\nsearch', 'api', ['api']],
  ])('%j: %s is asked for as the system does', async (text, name, expected) => {
    const lookup = lookupWith({ files: { hosts: fileOf(''), resolver: fileOf(text) } });
    const before = server.asked.length;
    await expect(outcomeOf(lookup(name))).resolves.toEqual(UNKNOWN);
    const asked = server.asked.slice(before).filter((it) => it.endsWith(' A'));
    expect(asked.map((it) => it.replace(/ A$/, ''))).toEqual(expected);
  });

  test('a name below a search domain is found, and one that is silent ends the search', async () => {
    const files = { hosts: fileOf(''), resolver: fileOf('search silent.test shop.internal') };
    said['api.shop.internal'] = { A: ['10.0.0.4'] };
    const lookup = lookupWith({ files, timeoutMs: 200 });
    await expect(outcomeOf(lookup('api'))).resolves.toEqual(SILENT);
    endSilence();
    await expect(lookup('api')).resolves.toEqual(['10.0.0.4']);
  });
});
