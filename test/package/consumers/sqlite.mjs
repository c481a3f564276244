/** The package that SQLite needs: none where Node has its own. */
export const SQLITE = Number.parseInt(process.versions.node, 10) < 24 ? ['better-sqlite3'] : [];
