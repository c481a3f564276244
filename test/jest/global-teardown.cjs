module.exports = require('./temporary-folder.cjs').closeTemporaryFolder;
