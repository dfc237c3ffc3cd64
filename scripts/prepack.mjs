// What `npm pack` needs before it packs: the builds, the types, the list of parts and the licence notices.
// Everything is said on the error output: npm's own answer is on the other.
import { copyFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildStale } from './build.mjs';
import { describeParts } from './parts.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

for (const name of ['server', 'console']) {
  if (buildStale(name)) continue;
  console.error(`The ${name} could not be built; the messages above say why.`);
  process.exit(1);
}
copyFileSync(join(ROOT, 'src/public-types.ts'), join(ROOT, 'lib/index.d.ts'));
const { bom, notices } = describeParts(ROOT);
writeFileSync(join(ROOT, 'SBOM.cdx.json'), bom);
writeFileSync(join(ROOT, 'NOTICES.txt'), notices);
