import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';

const SAME = { name: 'test_same', text: 'select $1::text as same' };

describe('a Postgres that is asked with what it can never take', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  test('is not taken for one that does not answer, and goes on', async () => {
    const database = await openPostgres(await server.newDatabase());
    try {
      await expect(database.query(SAME, '\0')).rejects.toMatchObject({ code: '22021' });
      await expect(database.batch([[SAME, '\0']])).rejects.toMatchObject({ code: '22021' });
      expect(await database.query(SAME, 'a')).toEqual([{ same: 'a' }]);
    } finally {
      await database.close();
    }
  });
});
