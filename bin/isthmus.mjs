#!/usr/bin/env node
// The command `isthmus`: in the repository it sets the project up first, in an installed package it runs the program.
// Old versions of node have to understand this file, so that it can tell them apart.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [major, minor] = process.versions.node.split('.').map(Number);

if (existsSync(new URL('../scripts/bootstrap.mjs', import.meta.url))) {
  process.argv.splice(2, 0, 'isthmus');
  await import('../scripts/bootstrap.mjs');
} else if (major < 24 || (major === 24 && minor < 7)) {
  console.error(
    `isthmus needs node 24.7 or newer, and this is ${process.version}: run "npx -p node@26 ${nameCommand()}", which brings one for this command alone.`,
  );
  process.exit(1);
} else {
  await import('../lib/main.js');
}

/** What follows `npx -p node@26`: npx installs a package into a folder of its cache, which names where it came from. */
function nameCommand() {
  const command = ['isthmus', ...process.argv.slice(2)].join(' ');
  const folder = new URL('../../../', import.meta.url);
  if (!/\/_npx\/[^/]+\/$/.test(folder.pathname)) return command;
  const { name } = readManifest(new URL('../', import.meta.url));
  const source = readManifest(folder).dependencies[name];
  const isFile = source.startsWith('file:');
  return `-p ${isFile ? fileURLToPath(new URL(source.slice(5), folder)) : name} ${command}`;
}

function readManifest(folder) {
  return JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'));
}
