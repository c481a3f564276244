import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import { projectsContract } from './projects.js';

projectsContract('SQLite', () => openSqlite(':memory:'));
