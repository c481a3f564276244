import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import { deliveriesContract } from './deliveries.js';
import { eventLogContract } from './event-log.js';
import { webhooksContract } from './webhooks.js';

const open = () => openSqlite(':memory:');

eventLogContract('SQLite', open);
webhooksContract('SQLite', open);
deliveriesContract('SQLite', open);
