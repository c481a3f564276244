import { SECRETS_KEYS_TEXT, secretsKeysIn } from '../sql/secrets-keys.js';
import type { SqlDatabase, Statement } from '../sql/sql-database.js';
import { PROJECT_COLUMNS, projectToSql, toProject } from './project-rows.js';
import type { ProjectSecretsStore } from './project-secrets.js';

const SECRETS = {
  secretsKeys: {
    name: 'tollhouse_project_secrets_keys',
    text: SECRETS_KEYS_TEXT,
  },
  sealedOtherwise: {
    name: 'tollhouse_project_sealed_otherwise',
    text: `select ${PROJECT_COLUMNS.join(', ')} from tollhouse_project
      where secrets_keys is not null and secrets_keys <> $1 and state <> 'deleted' order by id limit $2`,
  },
  reseal: {
    name: 'tollhouse_project_reseal',
    text: `update tollhouse_project set details = $3, secrets_keys = $4
      where id = $1 and version = $2 and state <> 'deleted' returning id`,
  },
} as const satisfies Record<string, Statement>;

/** The keys of projects' secrets on SQLite or Postgres. The database is not closed with it. */
export function createSqlProjectSecrets(database: SqlDatabase): ProjectSecretsStore {
  return {
    async secretsKeys() {
      return secretsKeysIn(await database.query(SECRETS.secretsKeys));
    },
    async sealedOtherwise(keyId, limit) {
      return (await database.query(SECRETS.sealedOtherwise, keyId, limit)).map(toProject);
    },
    async reseal(project) {
      const { details, secrets_keys } = projectToSql(project);
      const rows = await database.query(SECRETS.reseal, project.id, project.version, details, secrets_keys);
      return rows.length > 0;
    },
  };
}
