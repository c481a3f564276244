import { openStorage } from '../../src/storage/open-storage.js';
import { unlistedProjects } from '../../src/storage/sql/migrations/0015-unlisted-projects.js';
import { emptyDatabases } from '../helpers/storage/empty-databases.js';
import { connectTo } from '../helpers/storage/schema-connection.js';
import { newProject } from './project-samples.js';

const KINDS = emptyDatabases();

test.each(KINDS)('a project that strangers could call stays one that they can, on $dialect', async ({ newUrl }) => {
  const url = await newUrl();
  const storage = await openStorage(url);
  const { projects } = storage.gateway;
  const [before, listed] = [newProject({ visibility: 'private' }), newProject()];
  for (const it of [before, listed]) await projects.create(it, undefined, []);

  const db = await connectTo(url);
  for (const statement of unlistedProjects()) await db.run(statement);
  await db.close();

  expect(await projects.find(before.id)).toEqual({ ...before, visibility: 'unlisted' });
  expect(await projects.find(listed.id)).toEqual(listed);
  await storage.close();
});
