import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { HAS_BROWSER, WHY_NOT } from '../helpers/browser/browser.js';
import { ESSAY, usePaywallStand } from '../helpers/browser/paywall-stand.js';
import { type AppServer, serveApp } from '../helpers/http/app-server.js';
import { freePort } from '../helpers/processes/free-port.js';
import { testFolder } from '../helpers/processes/test-folder.js';

const PAY = 'Pay 0.50 USDC with Test Wallet';
const PHONE = { userAgent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148', isMobile: true };

(HAS_BROWSER ? describe : describe.skip)(`what can go wrong on the paywall page, in Chromium${WHY_NOT}`, () => {
  const stand = usePaywallStand();
  const folder = testFolder();

  async function open(options: object = {}, path = '/essay') {
    const url = await stand.fixture.serve((app) => {
      const { facilitator, fixture } = stand;
      const gate = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.50', ...options });
      app.get('/essay', gate, (_req, res) => void res.type('html').send(ESSAY));
    });
    await stand.page().goto(`${url}${path}`);
    return url;
  }

  test('no wallet: it says where to get one', async () => {
    await open();
    await stand.says(
      /no Solana wallet in this browser.*the app that you pay and sign in with; once you have one, load/,
    );
    expect(await stand.page().getAttribute('text=Get Phantom', 'href')).toBe('https://phantom.com/download');
  });

  test('no wallet on a phone: it opens in one, at the same address', async () => {
    await stand.reader({ ...PHONE, viewport: { width: 390, height: 800 } });
    const url = await open({}, '/essay?part=1');
    await stand.says('A wallet is the app that you pay and sign in with; open this page in yours.');
    const link = await stand.page().getAttribute('text=Open in Phantom', 'href');
    const [page, ref] = [`${url}/essay?part=1`, url].map(encodeURIComponent);
    expect(link).toBe(`https://phantom.app/ul/browse/${page}?ref=${ref}`);
    expect(await stand.page().evaluate('document.documentElement.scrollWidth')).toBe(390);
  });

  test('declined: nothing is paid, and the next try is', async () => {
    let asked = 0;
    const wallet = await stand.wallet({
      onSign() {
        asked += 1;
        if (asked === 1) throw new Error('User rejected the request.');
      },
    });
    await open();
    await stand.press(PAY);
    await stand.says('Test Wallet did not sign. Nothing was paid.');
    expect(stand.settled()).toBe(0);
    await stand.press('Try again');
    await stand.read();
    expect([asked, wallet.signed(), stand.settled()]).toEqual([2, 1, 1]);
  });

  test('a wallet of another network is not asked to sign', async () => {
    const wallet = await stand.wallet({ chains: ['solana:mainnet'] });
    await open();
    await stand.press(PAY);
    await stand.says('Test Wallet is not on Solana devnet.');
    expect(wallet.signed()).toBe(0);
  });

  test('too little: it says how much is missing, and no wallet is asked', async () => {
    const keypair = await stand.fixture.sandbox.createWallet({ usdc: '0.2' });
    const wallet = await stand.wallet({ keypair });
    await open();
    await stand.press(PAY);
    await stand.says('Not enough: 0.30 USDC missing. This wallet has 0.20 USDC.');
    expect(wallet.signed()).toBe(0);
  });

  test('no account for the token: it says what to send to the wallet', async () => {
    const keypair = await stand.fixture.sandbox.createWallet({ sol: '1' });
    await stand.wallet({ keypair });
    await open();
    await stand.press(PAY);
    await stand.says('This wallet has no USDC yet. Send it 0.50 USDC, then check again.');
    const usdc = stand.facilitator.tokens.find(({ symbol }) => symbol === 'USDC')?.mint ?? '';
    stand.fixture.sandbox.fundToken(keypair.publicKey.toBase58(), usdc, 500_000n);
    await stand.press('Check again');
    await stand.read();
    expect(stand.settled()).toBe(1);
  });

  test('terms that run out in the wallet are renewed by themselves, once', async () => {
    let asked = 0;
    const wallet = await stand.wallet({
      onSign() {
        asked += 1;
        // Blockhashes of this chain live so many blocks.
        if (asked === 1) stand.fixture.sandbox.advanceSlots(3_100);
      },
    });
    await open();
    await stand.press(PAY);
    await stand.read();
    expect([asked, wallet.signed(), stand.settled()]).toEqual([2, 2, 1]);
  });

  test('another price than the page shows is not paid', async () => {
    const wallet = await stand.wallet();
    let price = '$0.50';
    await open({ price: () => price });
    price = '$0.60';
    await stand.press(PAY);
    await stand.says('The price has changed. Nothing was paid');
    expect(wallet.signed()).toBe(0);
    await stand.press('Try again');
    await stand.press('Pay 0.60 USDC with Test Wallet');
    await stand.read();
    expect(stand.settled()).toBe(1);
  });

  test('pending: it is watched over a reload, and one payment is signed', async () => {
    const wallet = await stand.wallet();
    const facilitator = stand.facilitatorWith({ settleTimeoutMs: 300 });
    const { faults } = stand.fixture.sandbox;
    await open({ facilitator });
    faults.add({ kind: 'drop' });
    await stand.press(PAY);
    await stand.says('The network has not confirmed the payment yet.');
    await stand.page().reload();
    await stand.says('The network has not confirmed the payment yet.');
    faults.clear();
    await stand.read();
    expect([wallet.signed(), stand.settled()]).toEqual([1, 1]);
  });

  test('a server that is started anew in the middle has the same payment brought', async () => {
    const { fixture } = stand;
    const databaseUrl = `sqlite:${folder.newPath('db')}`;
    const port = await freePort();
    const start = async (): Promise<AppServer & { readonly stop: () => Promise<void> }> => {
      const storage = await openStorage(databaseUrl);
      const facilitator = stand.facilitatorWith({ storage });
      const gate = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.50' });
      const server = await serveApp(
        (app) => void app.get('/essay', gate, (_req, res) => void res.type('html').send(ESSAY)),
        undefined,
        undefined,
        port,
      );
      const stop = async () => {
        await server.close();
        await facilitator.close();
        await storage.close();
      };
      return { ...server, stop };
    };
    let server = await start();
    const wallet = await stand.wallet({ onSign: () => server.stop() });
    await stand.page().goto(`${server.url}/essay`);
    await stand.press(PAY);
    await stand.says('The site does not answer. Your payment is kept');
    server = await start();
    await stand.read();
    expect([wallet.signed(), stand.settled()]).toEqual([1, 1]);
    await server.stop();
  });

  test('a handler that fails costs nothing, and the same payment is brought when it is tried again', async () => {
    const wallet = await stand.wallet();
    let isBroken = true;
    const url = await stand.fixture.serve((app) => {
      const { facilitator, fixture } = stand;
      app.get('/essay', requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.50' }), (_req, res) => {
        if (isBroken) res.status(500).send('broken');
        else res.type('html').send(ESSAY);
      });
    });
    await stand.page().goto(`${url}/essay`);
    await stand.press(PAY);
    await stand.says('The site answered with an error (500).');
    isBroken = false;
    await stand.press('Try again');
    await stand.read();
    expect([wallet.signed(), stand.settled()]).toEqual([1, 1]);
  });

  test('is used with the keyboard alone', async () => {
    await stand.wallet();
    await open({ price: ['$0.10', '0.5 USDT'] });
    const { keyboard } = stand.page();
    await keyboard.press('Tab');
    await keyboard.press('ArrowDown');
    await keyboard.press('Tab');
    await keyboard.press('Enter');
    await stand.read();
    expect(stand.settled()).toBe(1);
  });
});
