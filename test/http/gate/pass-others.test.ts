import { createRouter } from '../../../src/http/create-router.js';
import { EXPRESSES, openTollStand, type TollStand } from '../../helpers/toll-stand.js';

describe.each(EXPRESSES)('routes of an app behind the mounted router, %s', (_name, express) => {
  let stand: TollStand;
  let url: string;

  beforeAll(async () => {
    stand = await openTollStand();
    url = await stand.serve((app) => {
      app.use('/pay', createRouter({ facilitator: stand.facilitator }));
      app.use(createRouter({ facilitator: stand.facilitator }));
      app.use((req, res) => void res.send(`app ${req.path}`));
    }, express);
  });
  afterAll(() => stand.close());

  const textOf = async (path: string) => (await fetch(url + path)).text();

  test.each(['/own', '/healthy', '/v1', '/v1/nobody', '/payments', '/health/more', '//health', '/%68ealth'])(
    '%s is answered by the app',
    async (path) => {
      expect(await textOf(path)).toBe(`app ${path}`);
    },
  );

  test.each(['/', '/health', '/HEALTH', '/Health/', '/health?x=/y', '/token-gate/tiers', '/pay/health', '/pay'])(
    '%s is answered by the router',
    async (path) => {
      const answer = await fetch(url + path);
      expect([answer.status, (await answer.text()).startsWith('app')]).toEqual([200, false]);
    },
  );
});
