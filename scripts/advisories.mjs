// Asks the registry for known weaknesses of the packages that are shipped, and writes its answer to advisories.json.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lockedPackages } from './locked-packages.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const [output = join(ROOT, 'advisories.json')] = process.argv.slice(2);
const { published } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const registry = (process.env.npm_config_registry ?? published.registry).replace(/\/$/, '');

const packages = {};
for (const { name, version } of lockedPackages(ROOT)) {
  packages[name] = [...(packages[name] ?? []), version];
}
const address = `${registry}/-/npm/v1/security/advisories/bulk`;
try {
  const answer = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(packages),
  });
  if (!answer.ok) throw new Error(`it answered ${answer.status}`);
  const found = Object.entries(await answer.json()).flatMap(([name, list]) =>
    list.map(({ severity, title, url, vulnerable_versions: versions }) => ({
      ...{ name, versions, severity, title, url },
    })),
  );
  const asked = Object.keys(packages).length;
  const text = { fetched: new Date().toISOString().slice(0, 10), asked, found };
  writeFileSync(output, `${JSON.stringify(text, null, 2)}\n`);
  console.log(`${asked} packages, ${found.length} advisories: ${output}`);
} catch (error) {
  console.error(`${address} could not be asked: ${error.cause?.message ?? error.message}.`);
  console.error(`${output} stays as it is.`);
  process.exit(1);
}
