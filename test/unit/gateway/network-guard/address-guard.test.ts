import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { Agent, request } from 'undici';
import {
  type AddressGuardOptions,
  AddressRefused,
  createAddressGuard,
} from '../../../../src/gateway/network-guard/address-guard.js';
import { isNetwork } from '../../../../src/gateway/network-guard/address-ranges.js';

const LOOPBACK = ['127.0.0.0/8', '::1/128'];
const NOT_PUBLIC =
  'must be at a public address; a server takes others in the networks of allowPrivateNetworks (ALLOW_PRIVATE_NETWORKS)';
const NOT_LET_IN =
  'must be an https address; a server takes http in the networks of allowPrivateNetworks (ALLOW_PRIVATE_NETWORKS)';
const NOT_HTTPS = 'must be an https address';

const agents: Agent[] = [];
afterAll(() => Promise.all(agents.map((agent) => agent.destroy())));

/** A name that resolves to these, one list after the other; the last one stays. */
function resolving(...answers: readonly (readonly string[])[]) {
  const left = [...answers];
  const asked: string[] = [];
  const lookup = async (hostname: string) => {
    asked.push(hostname);
    return (left.length > 1 ? left.shift() : left[0]) ?? [];
  };
  return { asked, lookup };
}

/** Why a connection failed; undefined when it was answered. */
async function failure(url: string, options: AddressGuardOptions): Promise<unknown> {
  const agent = new Agent({ connect: createAddressGuard(options).connect });
  agents.push(agent);
  try {
    await (await request(url, { dispatcher: agent })).body.dump();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Hosts that are not public, in every notation. */
const PRIVATE_HOSTS = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '017700000001',
  '0177.0.0.1',
  '127.0.0.1.',
  '%31%32%37.0.0.1',
  '0.0.0.0',
  '0',
  '10.1.2.3',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '2852039166',
  '100.64.0.1',
  '100.127.255.254',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:a9fe:a9fe]',
  '[::ffff:0:127.0.0.1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::808:808]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2002:808:808::1]',
  '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
  '[100::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[5f00::1]',
  '[4000::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
];

describe('on registration', () => {
  test.each(PRIVATE_HOSTS)('https://%s is refused', async (host) => {
    const { asked, lookup } = resolving(['8.8.8.8']);
    await expect(createAddressGuard({ lookup }).checkUrl(`https://${host}/`)).resolves.toBe(NOT_PUBLIC);
    expect(asked).toEqual([]);
  });

  test.each(['8.8.8.8', '1.1.1.1', '[2606:4700::1111]', '[::ffff:8.8.8.8]', '172.32.0.1', '100.128.0.1'])(
    'https://%s is fine, http is not',
    async (host) => {
      await expect(createAddressGuard().checkUrl(`https://${host}/hook?x=1`)).resolves.toBeUndefined();
      await expect(createAddressGuard().checkUrl(`http://${host}/hook`)).resolves.toBe(NOT_LET_IN);
    },
  );

  test.each([
    ['ftp://example.com/', NOT_HTTPS],
    ['file:///etc/passwd', NOT_HTTPS],
    ['javascript:alert(1)', NOT_HTTPS],
    ['example.com', NOT_HTTPS],
    ['', NOT_HTTPS],
    ['https://', NOT_HTTPS],
    ['https://127.0.0.1.nope.0x/', NOT_HTTPS],
    ['https://user@example.com/', 'must be without user and password'],
    ['https://:secret@example.com/', 'must be without user and password'],
    ['https://example.com/#top', 'must be without fragment'],
    ['https://example.com/#', 'must be without fragment'],
    ['https://example.com:22/', 'must have port 80, 443 or one from 1024'],
    ['https://example.com:0/', 'must have port 80, 443 or one from 1024'],
    [`https://example.com/${'a'.repeat(2100)}`, 'must have at most 2048 characters'],
  ])('%s: %s', async (url, fault) => {
    await expect(createAddressGuard(resolving(['8.8.8.8'])).checkUrl(url)).resolves.toBe(fault);
  });

  test('every address of a name must be public', async () => {
    const check = (...addresses: string[]) => createAddressGuard(resolving(addresses)).checkUrl('https://a.example/');
    await expect(check('8.8.8.8', '2606:4700::1111')).resolves.toBeUndefined();
    await expect(check('8.8.8.8', '10.0.0.1')).resolves.toBe(NOT_PUBLIC);
    await expect(check('::ffff:10.0.0.1')).resolves.toBe(NOT_PUBLIC);
    await expect(check('64:ff9b::a00:1')).resolves.toBe(NOT_PUBLIC);
    await expect(check('fe80::1%eth0')).resolves.toBe(NOT_PUBLIC);
    await expect(check('not an address')).resolves.toBe(NOT_PUBLIC);
  });

  test('a name must resolve', async () => {
    const fault = 'must have a host that can be resolved';
    await expect(createAddressGuard(resolving([])).checkUrl('https://a.example/')).resolves.toBe(fault);
    const lookup = () => Promise.reject(new Error('ENOTFOUND'));
    await expect(createAddressGuard({ lookup }).checkUrl('https://a.example/')).resolves.toBe(fault);
  });

  test("the system's resolver knows localhost", async () => {
    await expect(createAddressGuard().checkUrl('https://localhost/')).resolves.toBe(NOT_PUBLIC);
    await expect(createAddressGuard({ allow: LOOPBACK }).checkUrl('http://localhost:3000/')).resolves.toBeUndefined();
  });

  test('networks that are let in are reached over http too, and nothing beside them', async () => {
    const { checkUrl } = createAddressGuard({ allow: ['10.0.0.0/8', 'fd00::/8'], ...resolving(['10.0.0.7']) });
    await expect(checkUrl('http://10.9.8.7/')).resolves.toBeUndefined();
    await expect(checkUrl('https://[fd00::1]/')).resolves.toBeUndefined();
    await expect(checkUrl('http://[::ffff:10.0.0.1]/')).resolves.toBeUndefined();
    await expect(checkUrl('http://inner.example/')).resolves.toBeUndefined();
    await expect(checkUrl('https://11.0.0.1/')).resolves.toBeUndefined();
    await expect(checkUrl('http://11.0.0.1/')).resolves.toBe(NOT_LET_IN);
    await expect(checkUrl('https://192.168.0.1/')).resolves.toBe(NOT_PUBLIC);
    await expect(checkUrl('https://[::1]/')).resolves.toBe(NOT_PUBLIC);
  });

  test('loopback that is let in does not let the unspecified address in', async () => {
    const { checkUrl } = createAddressGuard({ allow: LOOPBACK });
    await expect(checkUrl('http://127.0.0.1:8080/')).resolves.toBeUndefined();
    await expect(checkUrl('https://0.0.0.0/')).resolves.toBe(NOT_PUBLIC);
    await expect(checkUrl('https://[::]/')).resolves.toBe(NOT_PUBLIC);
  });
});

describe('when a connection is made', () => {
  const hosts: (string | undefined)[] = [];
  const server = createServer((req, res) => {
    hosts.push(req.headers.host);
    res.end('answered');
  });
  let port: number;
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });
  beforeEach(() => void hosts.splice(0));

  test.each(['127.0.0.1', '2130706433', '0x7f.1', '0177.0.0.1', '[::ffff:127.0.0.1]', '0.0.0.0', 'localhost'])(
    '%s is refused, over http and https',
    async (host) => {
      await expect(failure(`http://${host}:${port}/`, {})).resolves.toBeInstanceOf(AddressRefused);
      await expect(failure(`https://${host}:${port}/`, {})).resolves.toBeInstanceOf(AddressRefused);
      expect(hosts).toEqual([]);
    },
  );

  test('what is let in is answered, by its name', async () => {
    const names = resolving(['127.0.0.1']);
    await expect(failure(`http://inner.example:${port}/`, { allow: LOOPBACK, ...names })).resolves.toBeUndefined();
    await expect(failure(`http://127.0.0.1:${port}/`, { allow: LOOPBACK })).resolves.toBeUndefined();
    expect(hosts).toEqual([`inner.example:${port}`, `127.0.0.1:${port}`]);
  });

  test('a public address over http is refused', async () => {
    await expect(failure('http://8.8.8.8/', {})).resolves.toBeInstanceOf(AddressRefused);
    await expect(failure('http://a.example/', resolving(['8.8.8.8']))).resolves.toBeInstanceOf(AddressRefused);
  });

  test('one address that is not public is enough to refuse a name', async () => {
    const names = resolving(['8.8.8.8', '127.0.0.1']);
    await expect(failure(`https://a.example:${port}/`, names)).resolves.toBeInstanceOf(AddressRefused);
  });

  test('a name that resolves to something else by now is refused', async () => {
    const names = resolving(['8.8.8.8'], ['127.0.0.1']);
    const { checkUrl, connect } = createAddressGuard(names);
    await expect(checkUrl(`https://rebind.example:${port}/`)).resolves.toBeUndefined();
    const agent = new Agent({ connect });
    agents.push(agent);
    const call = request(`https://rebind.example:${port}/`, { dispatcher: agent });
    await expect(call).rejects.toBeInstanceOf(AddressRefused);
    expect(names.asked).toEqual(['rebind.example', 'rebind.example']);
  });

  test('a name is resolved once for a connection: what was checked is what is connected to', async () => {
    const names = resolving(['127.0.0.1'], ['127.0.0.2']);
    await expect(failure(`http://once.example:${port}/`, { allow: ['127.0.0.1/32'], ...names })).resolves.toBe(
      undefined,
    );
    expect(names.asked).toEqual(['once.example']);
  });

  test('a name is looked up anew for each connection', async () => {
    const names = resolving(['127.0.0.1'], ['169.254.169.254']);
    const agent = new Agent({ connect: createAddressGuard({ allow: LOOPBACK, ...names }).connect });
    agents.push(agent);
    const call = () => request(`http://twice.example:${port}/`, { dispatcher: agent, reset: true });
    await (await call()).body.dump();
    await expect(call()).rejects.toBeInstanceOf(AddressRefused);
  });

  test('a name that does not resolve says so', async () => {
    const lookup = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
    await expect(failure('https://a.example/', { lookup })).resolves.toMatchObject({ code: 'ENOTFOUND' });
    await expect(failure('https://a.example/', resolving([]))).resolves.toBeInstanceOf(AddressRefused);
  });

  test('TLS asks for the name, not for the address that was checked', async () => {
    let hello = '';
    const tcp = createTcpServer((socket) =>
      socket.once('data', (bytes) => {
        hello = bytes.toString('latin1');
        socket.destroy();
      }),
    );
    await once(tcp.listen(0, '127.0.0.1'), 'listening');
    const url = `https://secure.example:${(tcp.address() as AddressInfo).port}/`;
    await expect(failure(url, { allow: LOOPBACK, ...resolving(['127.0.0.1']) })).resolves.toBeDefined();
    expect(hello).toContain('secure.example');
    tcp.close();
  });
});

test('a network that is none is a wrong option', () => {
  const make = () => createAddressGuard({ allow: ['10.0.0.0'] });
  expect(make).toThrow('createAddressGuard: "10.0.0.0" is not a network such as 10.0.0.0/8');
});

test.each([
  ['10.0.0.0/8', true],
  ['0.0.0.0/0', true],
  ['::1/128', true],
  ['fd00::/8', true],
  ['10.0.0.0', false],
  ['10/8', false],
  ['0x7f.0.0.1/8', false],
  ['10.0.0.0/33', false],
  ['::/129', false],
  ['loopback', false],
  ['', false],
  ['10.0.0.0/8 ', false],
])('"%s" is a network: %s', (text, expected) => {
  expect(isNetwork(text)).toBe(expected);
});
