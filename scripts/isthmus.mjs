#!/usr/bin/env node
// The command `isthmus`: sets the project up where needed, then runs the built program.
process.argv.splice(2, 0, 'isthmus');
await import('./bootstrap.mjs');
