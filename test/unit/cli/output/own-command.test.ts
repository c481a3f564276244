import { join } from 'node:path';
import { ownCommand } from '../../../../src/cli/output/own-command.js';

test.each([
  ['node dist/cli.js', 'a clone', 'dist/cli.js'],
  ['npx tollhouse', 'an app', 'node_modules/.bin/tollhouse'],
  ['npx tollhouse', 'an app, by its file', 'node_modules/tollhouse/dist/cli.js'],
  ['npx tollhouse', 'a global installation, by its file', '../lib/node_modules/tollhouse/dist/cli.js'],
  ['tollhouse', 'a global installation', '../bin/tollhouse'],
])('the program is started by "%s" in %s', (command, _where, file) => {
  expect(ownCommand(join(process.cwd(), file))).toBe(command);
});
