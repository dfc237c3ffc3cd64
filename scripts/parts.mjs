// The parts of the package that others wrote: as a bill of materials (CycloneDX), and with their licences.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import parseExpression from 'spdx-expression-parse';
import { listShippedPackages } from './shipped-packages.mjs';

/** What may be shipped in an Apache-2.0 package, its texts beside it. */
const ALLOWED = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'OFL-1.1',
  'Unlicense',
];

/** @param {string} expression of SPDX */
export function isAllowedLicense(expression) {
  return isAllowed(parseExpression(expression));
}

function isAllowed({ license, left, right, conjunction }) {
  if (license !== undefined) return ALLOWED.includes(license);
  if (conjunction === 'or') return isAllowed(left) || isAllowed(right);
  return isAllowed(left) && isAllowed(right);
}

const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/** @param {string} root of the project, after both builds */
export function readParts(root) {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return listShippedPackages(root).map(({ name, version, folder }) => {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const files = readdirSync(folder).filter((file) => LICENSE_FILE.test(file));
    return {
      name,
      version,
      license: manifest.license,
      description: manifest.description,
      integrity: lock.packages[folder.slice(root.length + 1).replaceAll('\\', '/')]?.integrity,
      texts: files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim()),
    };
  });
}

/** @param {string} root of the project, after both builds */
export function describeParts(root) {
  const parts = readParts(root);
  return { bom: writeBom(root, parts), notices: writeNotices(parts) };
}

/** The same for the same parts: it names no moment and has no number of its own. */
function writeBom(root, parts) {
  const { name, version, description, license } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  const bom = new Models.Bom();
  const own = componentOf({ name, version, description, license }, 'application');
  bom.metadata.component = own;
  for (const part of parts) {
    const component = componentOf(part, 'library');
    bom.components.add(component);
    own.dependencies.add(component.bomRef);
  }
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  const serializer = new Serialize.JsonSerializer(factory);
  return `${serializer.serialize(bom, { sortLists: true, space: 1 })}\n`;
}

function componentOf({ name, version, description, license, integrity }, type) {
  const [scope, short] = name.startsWith('@') ? name.split('/') : [undefined, name];
  const purl = `pkg:npm/${encodeURIComponent(name).replace('%2F', '/')}@${version}`;
  const component = new Models.Component(
    type === 'library' ? Enums.ComponentType.Library : Enums.ComponentType.Application,
    short,
    { group: scope, version, description, purl, bomRef: purl },
  );
  component.licenses.add(new Models.SpdxLicense(license));
  if (integrity !== undefined) {
    const [, digest] = integrity.split('sha512-');
    const hex = Buffer.from(digest, 'base64').toString('hex');
    component.hashes.set(Enums.HashAlgorithm['SHA-512'], hex);
  }
  return component;
}

function writeNotices(parts) {
  const head = 'This package holds code of others, in parts, under these licences.\n';
  const sections = parts.map(({ name, version, license, texts }) => {
    const text = texts.length > 0 ? texts.join('\n\n') : 'Its package has no text of its licence.';
    return `${'='.repeat(80)}\n${name} ${version} (${license})\n${'='.repeat(80)}\n\n${text}\n`;
  });
  return [head, ...sections].join('\n');
}
