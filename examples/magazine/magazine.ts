// A magazine for people with browsers. Some of it is free, most is bought by the day, the archive is for holders, and letters cost
// ten cents each. Starts a local Solana chain and the magazine on it, and prints its address, to be opened in a browser.
//
//   npx unrun examples/magazine/magazine.ts
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
import { createFacilitator, paywallScript, requirePayment, requireTier } from 'tollhouse';
import { startSandbox } from 'tollhouse/sandbox';
import { ARTICLES, type Article } from './articles.js';
import { articlePage, frontPage, podcastPage, previewPage, thanksPage } from './pages.js';
import { recordPodcast } from './podcast.js';

const { network, rpcUrl, wsUrl, tokens, createWallet } = await startSandbox();
const keypair = await createWallet({ sol: '1' });
const facilitator = createFacilitator({ network, rpcUrl, wsUrl, tokens, keypair });
const payTo = (await createWallet({ usdc: '0' })).publicKey.toBase58();
const page = { name: 'The Magazine', colours: { light: { accent: '#0a6b4f' }, dark: { accent: '#7fe0bd' } } };
const sold = { facilitator, payTo, page };

// A payment buys everything that is sold by the day, for a day; the cookie comes along with reloads, links and players.
const day = requirePayment({
  ...sold,
  price: '$0.25',
  description: 'A day of The Magazine',
  pass: { for: '24h', group: 'magazine', cookie: true },
});
const letter = requirePayment({ ...sold, price: '$0.10', description: 'A letter to The Magazine' });
// Whoever holds enough signs in on the page, and stays signed in.
const tiers = { mint: 'PYUSD', levels: [{ id: 'gold', name: 'Gold', minBalance: 1_000 }] };
const gold = requireTier({ facilitator, tiers, tier: 'gold', page });

const app = express();
app.get('/', (_req, res) => void res.type('html').send(frontPage(ARTICLES)));
// Previews stand in pages of our own, and what a day opens takes their place: the element asks the gated address by itself.
app.get('/tollhouse.js', paywallScript());
app.get('/preview/:slug', read('day', previewPage));
app.get('/free/:slug', read('free'));
app.get('/day/:slug', day, read('day'));
app.get('/gold/:slug', gold, read('gold'));
app.get('/podcast', day, (_req, res) => void res.type('html').send(podcastPage()));

const podcast = await recordPodcast();
app.get('/podcast.wav', day, (_req, res) => res.sendFile(podcast));

app.post('/letters', express.urlencoded({ extended: false, limit: '10kb' }), letter, (req, res) => {
  const { letter: text } = req.body as { letter?: unknown };
  res.type('html').send(thanksPage(String(text)));
});

function read(access: Article['access'], show = articlePage): RequestHandler {
  return (req, res, next) => {
    const article = ARTICLES.find((it) => it.slug === req.params['slug'] && it.access === access);
    if (article === undefined) return next();
    res.type('html').send(show(article));
  };
}

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`http://localhost:${port}/`);
  console.log(`npx tollhouse pay http://127.0.0.1:${port}/day/the-long-way-home --demo --rpc ${rpcUrl}`);
});
