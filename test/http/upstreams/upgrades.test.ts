import { request } from 'node:http';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';

/** Asks to speak another protocol on the connection, as browsers do for a WebSocket. */
function upgrade(
  url: string,
  headers: object,
  protocol: string,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const asked = {
      ...headers,
      connection: 'Upgrade',
      upgrade: protocol,
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    const sent = request(url, { headers: asked, agent: false }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      res.on('end', () => resolve({ status: res.statusCode ?? 0, text }));
    });
    sent.on('error', reject).on('upgrade', () => reject(new Error('it was upgraded')));
    sent.end();
  });
}

describe('a call that asks for another protocol', () => {
  const fixture = useGatewayFixture();
  const urlOf = () => `${fixture().client.url}/v1/${fixture().project.slug}/socket`;

  test('is refused before any price where that is a WebSocket, paid or not', async () => {
    const { header } = await fixture().pay();
    const before = fixture().hits();
    for (const more of [{}, header]) {
      const { status, text } = await upgrade(urlOf(), { ...fixture().key.headers, ...more }, 'websocket');
      expect([status, JSON.parse(text).code]).toEqual([501, 'upgrade_not_supported']);
    }
    expect(fixture().hits()).toBe(before);
    const served = await fixture().client.call(fixture().project.slug, {
      headers: { ...fixture().key.headers, ...header },
    });
    expect(served.status).toBe(200);
  });

  test('is served as it is where it could do without', async () => {
    const { status, text } = await upgrade(urlOf(), fixture().key.headers, 'h2c');
    expect([status, JSON.parse(text).code]).toEqual([402, 'payment_required']);
  });

  test('is told nothing of a project that there is not', async () => {
    const { status } = await upgrade(`${fixture().client.url}/v1/nothing`, fixture().key.headers, 'websocket');
    expect(status).toBe(404);
  });
});
