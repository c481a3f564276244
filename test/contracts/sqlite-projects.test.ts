import { openSqlite } from '../../src/storage/sqlite-database.js';
import { projectsContract } from './projects.js';

projectsContract('SQLite', () => openSqlite(':memory:'));
