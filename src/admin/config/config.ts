// `/api/config`: the settings by section, changed one section at a time, and undone.

import type { XStatic } from 'typebox/schema';
import { StoreError } from '../../accounts/account-store.ts';
import { GatewayError, invalidRequest } from '../../canonical/error.ts';
import { mergePatch } from '../../config/file.ts';
import { ConfigError, UnusableFileError, UnwritableFileError } from '../../config/values.ts';
import { createMutex } from '../../lib/concurrency.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { isOutOfRoom } from '../../lib/private-file.ts';
import { PRESETS, presetPatch } from '../../routing/mapping.ts';
import { warnOfTarget } from '../../routing/router.ts';
import type { AdminCaller } from '../../server/admin-route.ts';
import { requireReauthentication } from '../access/session.ts';
import type { AdminOptions } from '../options.ts';
import { type ApiRoute, answerJson, defineRoute, refuseUnknown } from '../route.ts';
import {
  type EntrySettings,
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
  valueAt,
} from './sections.ts';

/** Names the field that was refused; nothing was changed in any case. */
function sayConfigFault(error: unknown, section: string): GatewayError {
  if (error instanceof UnusableFileError) return unusable(error.problems);
  if (!(error instanceof ConfigError)) return unwritable(error);
  const [first = ''] = error.problems;
  const field = /^([^\s:]+):/.exec(first)?.[1] ?? section;
  return invalidRequest(field, told`${error.problems.join('; ')}. Nothing was changed.`);
}

/** An edit by hand went wrong: no field of the change is to blame. */
function unusable(problems: readonly string[]): GatewayError {
  return new GatewayError({
    kind: 'invalid-request',
    source: 'client',
    message: told`The config file cannot be used as it stands, so nothing was changed. Correct it first: ${problems.join('; ')}.`,
  });
}

function unwritable(cause: unknown): GatewayError {
  if (cause instanceof UnwritableFileError && isOutOfRoom(cause.cause)) {
    return new GatewayError({
      kind: 'overloaded',
      source: 'gateway',
      message: told`The config file could not be written, because its disk has no room left. Nothing was changed. Free some room and try again.`,
      cause,
    });
  }
  return new GatewayError({
    kind: 'internal',
    source: 'gateway',
    message: told`The config file could not be written; the settings in force stay. The log says why.`,
    cause,
  });
}

/** Earlier contents of the config file: restoring one of them is no new change. */
/** Ways back are short: the console shows each for some seconds. */
const MAX_FILES = 20;

function createEarlierFiles() {
  let files: readonly JsonObject[] = [];
  return {
    /** Of a change that was made: the file as it stood before it. */
    note(file: JsonObject): void {
      files = [file, ...files].slice(0, MAX_FILES);
    },
    /** The latest first. */
    list: (): readonly JsonObject[] => files,
    /** What stood there last. */
    find(path: readonly string[]): JsonValue | undefined {
      const holder = files.find((file) => valueAt(file, path) !== undefined);
      return holder === undefined ? undefined : valueAt(holder, path);
    },
  };
}

export type ConfigOptions = Pick<
  AdminOptions,
  'book' | 'config' | 'origins' | 'revisionKey' | 'access' | 'models' | 'router'
>;

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

export function createConfigRoutes(options: ConfigOptions): readonly ApiRoute[] {
  const { config, origins, revisionKey, access } = options;
  const inTurn = createMutex();
  const earlier = createEarlierFiles();
  const facts: UpstreamFacts = {
    hasAccounts: (id) => options.book.list().some(({ record }) => record.upstreamId === id),
    removed: (id) => earlier.find(['upstreams', id]),
  };
  const write = (section: ConfigSection): XStatic<typeof SECTION_SCHEMA> => {
    const values = readSection(section, config.raw());
    return {
      section: section.name,
      title: section.title,
      revision: revisionOf(values, revisionKey),
      values: hideSecrets(section, values),
      overrides: overridesOf(section, origins.overrides()),
    };
  };
  const answerOne = (section: ConfigSection, warnings: readonly string[] = []) => {
    const written = write(section);
    const body = warnings.length === 0 ? written : { ...written, warnings };
    return answerJson(body, written.revision);
  };
  /** One after the other, so that what a revision was compared with is what is changed. */
  const change = (section: ConfigSection, { patchFor, revision, caller }: SectionChange) =>
    inTurn(async () => {
      await config.reload();
      checkRevision(write(section), revision);
      const values = readSection(section, config.raw());
      const patch = patchFor(values);
      const changed = mergePatch(values, patch);
      refusePatch(section, patch, changed);
      const to = await foresee(config, section, patch);
      refuseUnknownKeys(placePatch(section, patch), [config.raw(), ...earlier.list()]);
      refuseLockOut(access, caller, { from: await config.preview({}), to });
      if (needsReauthentication(section.name, { from: values, to: changed, patch }, facts)) {
        await requireReauthentication(access, caller);
      }
      const before = config.raw();
      await update(config, section, patch);
      earlier.note(before);
      return answerOne(section, await warningsOf(section, patch, options));
    });
  return [
    defineRoute({
      at: 'GET /api/config',
      title: 'shows all settings of the config file',
      answers: { 200: { description: 'All sections.', schema: SECTIONS_SCHEMA } },
      run: async () => answerJson({ sections: CONFIG_SECTIONS.map(write) }),
    }),
    defineRoute({
      at: 'GET /api/config/{section}',
      title: 'shows one section of the settings',
      parameter: SECTION_PARAMETER,
      answers: ONE_SECTION,
      run: async ({ parameter }) => answerOne(findSection(parameter)),
    }),
    defineRoute({
      at: 'PATCH /api/config/{section}',
      title: 'changes one section of the settings and puts it in force',
      parameter: SECTION_PARAMETER,
      body: PATCH_SCHEMA,
      takesRevision: true,
      asksAgain: true,
      answers: ONE_SECTION,
      run: async ({ parameter, body, revision, caller }) => {
        // The body is JSON that was read from the wire.
        const section = findSection(parameter);
        const patch = dropUnchangedSecrets(section, body as JsonObject);
        const patchFor = () => patch;
        return keepSignedIn(access, caller, () => change(section, { patchFor, revision, caller }));
      },
    }),
    defineRoute({
      at: 'GET /api/config/mapping/presets',
      title: 'lists the built-in mappings',
      answers: { 200: { description: 'The presets.', schema: PRESETS_SCHEMA } },
      run: async () => answerJson({ presets: PRESETS }),
    }),
    defineRoute({
      at: 'POST /api/config/mapping/presets/{preset}',
      title: 'puts a built-in mapping into the mapping, in place of another one',
      parameter: PRESETS.map(({ name }) => `\`${name}\``).join(', '),
      takesRevision: true,
      answers: ONE_SECTION,
      run: async ({ parameter, revision, caller }) => {
        const preset = PRESETS.find(({ name }) => name === parameter);
        if (preset === undefined) {
          return refuseUnknown(
            told`There is no preset of this name. GET /api/config/mapping/presets lists them.`,
          );
        }
        const patchFor = (values: JsonObject) => presetPatch(textsOf(values), preset);
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

function textsOf(values: JsonObject): Record<string, string> {
  const entries = Object.entries(values);
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

/** @throws StoreError `stale` */
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
  { models, router }: Pick<ConfigOptions, 'models' | 'router'>,
): Promise<readonly string[]> {
  if (section.name !== 'mapping') return [];
  // Without the accounts' own lists a name may seem unknown.
  await models.list();
  return Object.entries(textsOf(patch)).flatMap(
    ([key, target]) => warnOfTarget(key, target, router) ?? [],
  );
}

/** What would be in force. @throws GatewayError for what cannot be, by its path in the file */
async function foresee(
  config: ConfigOptions['config'],
  section: ConfigSection,
  patch: JsonObject,
): Promise<EntrySettings> {
  try {
    return await config.preview(placePatch(section, patch));
  } catch (error) {
    if (error instanceof ConfigError) throw sayConfigFault(error, section.name);
    throw error;
  }
}

/** @throws GatewayError naming the path of the file; nothing is changed then. */
async function update(
  config: ConfigOptions['config'],
  section: ConfigSection,
  patch: JsonObject,
): Promise<void> {
  try {
    await config.update(placePatch(section, patch));
  } catch (error) {
    throw sayConfigFault(error, section.name);
  }
}

/**
 * @param values of the section as the patch makes them
 * @throws GatewayError for what no file may be changed to, whatever else it says
 */
function refusePatch(section: ConfigSection, patch: JsonObject, values: JsonObject): void {
  refuseStrangers(section, patch);
  refuseChange(section, patch, values);
  if (!holdsHiddenPassword(patch)) return;
  throw invalidRequest(
    section.name,
    told`Write "[hidden]" out: the password of that address is needed.`,
  );
}

/** A key of another section would land where nobody looks for it. */
function refuseStrangers(section: ConfigSection, patch: JsonObject): void {
  const { keys } = section;
  if (keys === undefined) return;
  for (const key of Object.keys(patch)) {
    if (Object.hasOwn(keys, key)) continue;
    const known = Object.keys(keys).join(', ');
    throw invalidRequest(
      key,
      told`${key}: is no key of the section "${section.name}", which has ${known}.`,
    );
  }
}
