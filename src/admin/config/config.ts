// `/api/config` and `/api/environment`: the settings by section, changed one at a time and undone; the variables in force.

import type { XStatic } from 'typebox/schema';
import { requireRole } from '../../access/people.ts';
import { StoreError } from '../../accounts/account-store.ts';
import {
  clientError,
  type GatewayError,
  gatewayError,
  invalidRequest,
} from '../../canonical/error.ts';
import { mergePatch, valueAt } from '../../config/file.ts';
import type { VariableOrigin } from '../../config/origins.ts';
import { ConfigError, UnusableFileError, UnwritableFileError } from '../../config/values.ts';
import { createMutex } from '../../lib/concurrency.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { listed, type Sentence, told } from '../../lib/localized-message.ts';
import { list, named, object } from '../../lib/object-schema.ts';
import { isOutOfRoom } from '../../lib/private-file.ts';
import { allPresets, PRESETS, presetPatch } from '../../routing/mapping.ts';
import { warnOfTarget } from '../../routing/router.ts';
import type { AdminCaller } from '../../server/admin-route.ts';
import { requireReauthentication } from '../access/session.ts';
import type { AdminOptions } from '../options.ts';
import { type ApiRoute, answerJson, defineRoute, refuseUnknown } from '../route.ts';
import { OPTIONAL_TEXT } from '../schemas.ts';
import {
  keepSignedIn,
  needsReauthentication,
  refuseChange,
  refuseLockOut,
  refuseUnknownKeys,
  type UpstreamFacts,
} from './guards.ts';
import {
  CONFIG_SECTIONS,
  type ConfigSection,
  dropUnchangedSecrets,
  hideSecrets,
  holdsHiddenPassword,
  overridesOf,
  PATCH_SCHEMA,
  PRESETS_SCHEMA,
  placePatch,
  readSection,
  revisionOf,
  SECTION_SCHEMA,
  SECTIONS_SCHEMA,
} from './sections.ts';

/** Ways back are short: the console shows each for some seconds. */
const MAX_FILES = 20;

/** What decides about who comes in. */
const OWNERS_SECTIONS: readonly string[] = ['auth', 'console', 'sign_in'];

interface SectionChange {
  /** Made from the values of the section as they are when its turn comes. */
  readonly patchFor: (values: JsonObject) => JsonObject;
  /** What the section has to be at; any when absent. */
  readonly revision: string | undefined;
  readonly caller: AdminCaller;
}

const ONE_SECTION = {
  200: { description: 'The section.', schema: SECTION_SCHEMA, hasRevision: true },
} as const;

const SECTION_PARAMETER = CONFIG_SECTIONS.map(({ name }) => `\`${name}\``).join(', ');

export function createConfigRoutes(options: AdminOptions): readonly ApiRoute[] {
  const { config, origins, revisionKey, access } = options;
  const inTurn = createMutex();
  /** The config file as it stood before each change, the latest first: restoring it is no new change. */
  let earlier: readonly JsonObject[] = [];
  const facts: UpstreamFacts = {
    hasAccounts: (id) => options.book.list().some(({ record }) => record.upstreamId === id),
    removed(id) {
      const path = ['upstreams', id];
      return earlier.map((file) => valueAt(file, path)).find((found) => found !== undefined);
    },
  };
  const write = (section: ConfigSection): XStatic<typeof SECTION_SCHEMA> => {
    const values = readSection(section, config.raw());
    return {
      section: section.name,
      title: section.title,
      revision: revisionOf(values, revisionKey),
      values: hideSecrets(values, { section, path: [] }),
      overrides: overridesOf(section, origins.overrides()),
    };
  };
  const answerOne = (section: ConfigSection, warnings: readonly Sentence[] = []) => {
    const written = write(section);
    const body = warnings.length === 0 ? written : { ...written, warnings };
    return answerJson(body, written.revision);
  };
  /** One after the other, so that what a revision was compared with is what is changed. */
  const change = (section: ConfigSection, { patchFor, revision, caller }: SectionChange) =>
    inTurn(async () => {
      if (OWNERS_SECTIONS.includes(section.name)) requireRole(caller, 'owner');
      await config.reload();
      checkRevision(write(section), revision);
      const values = readSection(section, config.raw());
      const patch = patchFor(values);
      const changed = mergePatch(values, patch);
      refusePatch(section, patch, changed);
      const file = placePatch(section, patch);
      const to = await sayFaults(section, false, () => config.preview(file));
      refuseUnknownKeys(file, [config.raw(), ...earlier]);
      refuseLockOut(access, caller, { from: await config.preview({}), to });
      if (needsReauthentication(section.name, { from: values, to: changed, patch }, facts)) {
        await requireReauthentication(access, caller);
      }
      const before = config.raw();
      await sayFaults(section, true, () => config.update(file));
      earlier = [before, ...earlier].slice(0, MAX_FILES);
      return answerOne(section, await warningsOf(section, patch, options));
    });
  return [
    defineRoute({
      at: 'GET /api/config',
      access: 'viewer',
      title: 'shows all settings of the config file',
      answers: { 200: { description: 'All sections.', schema: SECTIONS_SCHEMA } },
      run: async () => answerJson({ sections: CONFIG_SECTIONS.map(write) }),
    }),
    defineRoute({
      at: 'GET /api/config/{section}',
      access: 'viewer',
      title: 'shows one section of the settings',
      parameter: SECTION_PARAMETER,
      answers: ONE_SECTION,
      run: async ({ parameter }) => answerOne(findSection(parameter)),
    }),
    defineRoute({
      at: 'PATCH /api/config/{section}',
      access: 'operator',
      title: 'changes one section of the settings and applies it',
      parameter: SECTION_PARAMETER,
      body: PATCH_SCHEMA,
      takesRevision: true,
      asksAgain: true,
      answers: ONE_SECTION,
      run: async ({ parameter, body, revision, caller }) => {
        // The body is JSON that was read from the wire.
        const section = findSection(parameter);
        const patch = dropUnchangedSecrets(body as JsonObject, { section, path: [] });
        const patchFor = () => patch;
        return keepSignedIn(access, caller, () => change(section, { patchFor, revision, caller }));
      },
    }),
    defineRoute({
      at: 'GET /api/config/mapping/presets',
      access: 'viewer',
      title: 'lists the presets: the built-in mappings, then those of `proxy.presets`',
      answers: { 200: { description: 'The presets.', schema: PRESETS_SCHEMA } },
      run: async () => {
        const presets = presetsOf(config.raw());
        const mapping = textsOf(readSection(findSection('mapping'), config.raw()));
        return answerJson({
          presets: presets.map((one) => ({ ...one, patch: presetPatch(mapping, one, presets) })),
        });
      },
    }),
    defineRoute({
      at: 'POST /api/config/mapping/presets/{preset}',
      access: 'operator',
      shows: '/api/config/mapping',
      title: 'merges a preset into the mapping, in place of another preset',
      parameter: `${PRESETS.map(({ name }) => `\`${name}\``).join(', ')}, or a name of \`proxy.presets\``,
      takesRevision: true,
      answers: ONE_SECTION,
      run: async ({ parameter, revision, caller }) => {
        await config.reload();
        const presets = presetsOf(config.raw());
        const preset = presets.find(({ name }) => name === parameter);
        if (preset === undefined) {
          return refuseUnknown(
            told`There is no preset of this name. GET /api/config/mapping/presets lists them.`,
          );
        }
        const patchFor = (values: JsonObject) => presetPatch(textsOf(values), preset, presets);
        return change(findSection('mapping'), { patchFor, revision, caller });
      },
    }),
  ];
}

function findSection(name: string): ConfigSection {
  const section = CONFIG_SECTIONS.find((one) => one.name === name);
  return (
    section ??
    refuseUnknown(told`There is no section of this name. There are: ${SECTION_PARAMETER}.`)
  );
}

function presetsOf(raw: JsonObject) {
  const own = Object.entries(readSection(findSection('presets'), raw));
  const mappings = own.map(([name, mapping]) => {
    return [name, textsOf(isJsonObject(mapping) ? mapping : {})] as const;
  });
  return allPresets(Object.fromEntries(mappings));
}

function textsOf(values: JsonObject): Record<string, string> {
  const entries = Object.entries(values);
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

function checkRevision(
  current: { readonly revision: string; readonly section: string },
  expected: string | undefined,
): void {
  if (expected === undefined || expected === current.revision) return;
  throw new StoreError(
    'stale',
    told`Somebody else changed the section "${current.section}" meanwhile. Read it again, then change it.`,
  );
}

/** Targets may be offered later, so they are no reason to refuse a mapping. */
async function warningsOf(
  section: ConfigSection,
  patch: JsonObject,
  { models, router, config }: AdminOptions,
): Promise<readonly Sentence[]> {
  if (section.name !== 'mapping' && section.name !== 'targets') return [];
  // Without the accounts' own lists a name may seem unknown.
  await models.list();
  const named =
    section.name === 'mapping'
      ? Object.entries(textsOf(patch))
      : namedByTargets(patch, config.raw());
  return named.flatMap(([key, target]) => warnOfTarget(key, target, router) ?? []);
}

/** What changed targets name, and the entries of the mapping that name a target which was taken out. */
function namedByTargets(patch: JsonObject, raw: JsonObject): [key: string, target: string][] {
  return Object.keys(patch).flatMap((name) => {
    const steps = valueAt(raw, ['proxy', 'targets', name, 'steps']);
    if (Array.isArray(steps)) {
      return steps.flat().map((entry): [string, string] => {
        const to = isJsonObject(entry) ? entry.to : entry;
        return [`@${name}`, String(to)];
      });
    }
    const mapping = valueAt(raw, ['proxy', 'custom_mapping']);
    const entries = Object.entries(textsOf(isJsonObject(mapping) ? mapping : {}));
    return entries.filter(([, target]) => target === `@${name}`);
  });
}

async function sayFaults<Result>(
  { name }: ConfigSection,
  isWritten: boolean,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ConfigError && !(error instanceof UnusableFileError)) {
      const field = /^([^\s:]+):/.exec(error.problems[0]?.text ?? '')?.[1] ?? name;
      throw invalidRequest(field, told`${listed(error.problems)}. Nothing was changed.`);
    }
    const isOfFile = error instanceof ConfigError || (isWritten && !(error instanceof StoreError));
    throw isOfFile ? fileFault(error) : error;
  }
}

/** No field of the change is to blame. */
function fileFault(cause: unknown): GatewayError {
  if (cause instanceof UnusableFileError) {
    const problems = listed(cause.problems);
    return clientError(
      'invalid-request',
      told`The config file is invalid, so nothing was changed. Correct it first: ${problems}.`,
    );
  }
  const isFull = cause instanceof UnwritableFileError && isOutOfRoom(cause.cause);
  const message = isFull
    ? told`The config file could not be written, because its disk has no room left. Nothing was changed. Free some room and try again.`
    : told`The config file could not be written; the settings in force stay. The log says why.`;
  return gatewayError(isFull ? 'overloaded' : 'internal', message, { cause });
}

/** @param values of the section with the patch. @throws GatewayError for what no file may hold */
function refusePatch(section: ConfigSection, patch: JsonObject, values: JsonObject): void {
  const { name, keys } = section;
  // A key of another section would be written where it has no effect.
  const stranger = Object.keys(patch).find((key) => keys && !Object.hasOwn(keys, key));
  if (keys !== undefined && stranger !== undefined) {
    const known = Object.keys(keys).join(', ');
    throw invalidRequest(
      stranger,
      told`${stranger}: is no key of the section "${name}", which has ${known}.`,
    );
  }
  refuseChange(section, patch, values);
  if (!holdsHiddenPassword(patch)) return;
  throw invalidRequest(name, told`Write "[hidden]" out: the password of that address is needed.`);
}

export const ENVIRONMENT_SCHEMA = named('Environment', {
  variables: list(
    object({
      name: { type: 'string', description: 'A file may hold the value too: `NAME_FILE`.' },
      summary: { type: 'string' },
      fallback: { type: 'string', description: 'What holds when it is set nowhere, in words.' },
      flag: { ...OPTIONAL_TEXT, description: 'The flag that says the same, such as `--port`.' },
      origin: { enum: ['flag', 'environment', 'file', 'default'] },
      isSecret: { type: 'boolean' },
      isSet: { type: 'boolean', description: 'Whether anything is in force.' },
      value: { ...OPTIONAL_TEXT, description: 'What is in force; null for secrets.' },
      settingKey: {
        ...OPTIONAL_TEXT,
        description: 'Where the config file says the same, such as `proxy.port`.',
      },
      restart: {
        enum: ['socket', 'path', 'process', null],
        description:
          'Why a change waits for the next start: a socket or a path is opened once, and the ' +
          'environment of a process stays. Null where a change of the config file acts at once.',
      },
    }),
  ),
});

type Written = XStatic<typeof ENVIRONMENT_SCHEMA>['variables'][number];

export function createEnvironmentRoute({ origins }: Pick<AdminOptions, 'origins'>): ApiRoute {
  return defineRoute({
    at: 'GET /api/environment',
    access: 'viewer',
    title: 'shows the environment variables and their effective values',
    answers: { 200: { description: 'All variables.', schema: ENVIRONMENT_SCHEMA } },
    run: async () => answerJson({ variables: origins.variables().map(writeVariable) }),
  });
}

function writeVariable(variable: VariableOrigin): Written {
  const { flag, value, settingKey, restart } = variable;
  return {
    ...variable,
    flag: flag ?? null,
    value: value ?? null,
    settingKey: settingKey ?? null,
    restart: restart ?? null,
  };
}
