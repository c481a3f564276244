const { closeBundles } = require('./bundles.cjs');
const { closeTemporaryFolder } = require('./temporary-folder.cjs');

module.exports = () => {
  closeBundles();
  closeTemporaryFolder();
};
