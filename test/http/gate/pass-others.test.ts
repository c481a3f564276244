import { createRouter } from '../../../src/http/create-router.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';

describe.each(EXPRESSES)('routes of an app behind the mounted router, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;

  beforeAll(async () => {
    fixture = await openTollFixture();
    url = await fixture.serve((app) => {
      app.use('/pay', createRouter({ facilitator: fixture.facilitator }));
      app.use(createRouter({ facilitator: fixture.facilitator }));
      app.use((req, res) => void res.send(`app ${req.path}`));
    }, express);
  });
  afterAll(() => fixture.close());

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
