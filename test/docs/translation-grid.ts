// Writes docs/translation-grid.md: every feature of every client on every upstream wire, from the grid of goldens.

import type { ReceiptEntry } from '../../src/canonical/receipt.ts';
import { ANSWER_FEATURES, ANSWER_WIRES, findAnswerCell } from '../golden/grid/answers.ts';
import {
  type Cell,
  findCell,
  GRID_TARGET_NAMES,
  GRID_TARGETS,
  type GridTargetName,
  type Outcome,
} from '../golden/grid/cells.ts';
import {
  type ClientName,
  FEATURE_GROUPS,
  type Feature,
  type FeatureGroup,
} from '../golden/grid/features.ts';
import { code, NOTE, table } from './generate.ts';

const CLIENT_TITLES: Readonly<Record<ClientName, string>> = {
  messages: 'Messages clients',
  chat: 'Chat Completions clients',
  responses: 'Responses clients',
  generate: 'Generate-Content clients',
};

const TARGET_TITLES: Readonly<Record<GridTargetName, string>> = {
  'gemini-api': 'Generate-Content',
  anthropic: 'Messages',
  openai: 'Chat Completions',
  'openai-compatible': 'Chat Completions, unknown service',
};

const WORDS: Readonly<Record<Exclude<Outcome, 'noted' | 'refused'>, string>> = {
  relayed: 'relayed',
  carried: 'carried',
  gateway: 'by the gateway',
  hint: 'left out (hint)',
};

/** docs/translation-grid.md */
export function describeGrid(): string {
  // The keys of a total table over the clients are the clients.
  const clients = Object.keys(CLIENT_TITLES) as ClientName[];
  return [
    '# What becomes of each feature',
    '',
    NOTE,
    '',
    'Each table is of one client protocol, each column an upstream wire. [translation.md](translation.md) explains the rules behind.',
    'The cells are worked out by translating a request with the feature and one without it, for these models:',
    '',
    table(
      ['Column', 'Profile', 'Model'],
      GRID_TARGET_NAMES.map((name) => [
        TARGET_TITLES[name],
        code(name),
        code(GRID_TARGETS[name].modelId),
      ]),
    ),
    '',
    'Other models take less or more: `POST /api/translate` shows a request of your own for the model that it names,',
    'and [upstreams.md](upstreams.md) what services of the Chat Completions wire differ in.',
    '',
    '| Cell | Meaning |',
    '| --- | --- |',
    '| relayed | the client speaks the wire of the upstream: sent as it came |',
    '| carried | sent in the words of the upstream |',
    '| by the gateway | sent where the upstream needs it; else the gateway does it itself |',
    '| left out (hint) | changes no answer, so no receipt lists it |',
    '| dropped, approximated, capped, repaired | listed in the receipt, with this reason |',
    '| refused | a 400 with this message |',
    '',
    ...clients.flatMap(describeClient),
    ...describeAnswers(clients),
  ].join('\n');
}

/** What of the answers of each wire each client is shown. */
function describeAnswers(clients: readonly ClientName[]): string[] {
  return [
    '## Answers',
    '',
    'Whether each client is shown what an upstream answers. `not shown` says that its protocol has no place for it; an empty cell,',
    'that the wire has no such answer. Signatures and thoughts that are not shown are kept for the next request of the conversation',
    '([translation.md](translation.md#signatures)).',
    '',
    ...ANSWER_WIRES.flatMap((wire) => [
      `### Of ${TARGET_TITLES[wire].split(',')[0]} upstreams`,
      '',
      table(
        ['Answer', ...clients.map((client) => CLIENT_TITLES[client])],
        ANSWER_FEATURES.filter((feature) => feature[wire] !== undefined).map((feature) => [
          feature.title,
          ...clients.map((client) => {
            const cell = findAnswerCell(feature, client, wire);
            if (cell === 'absent') return 'not shown';
            return writeCell(cell && { ...cell, bodies: [] });
          }),
        ]),
      ),
      '',
    ]),
  ];
}

function describeClient(client: ClientName): string[] {
  const groups = FEATURE_GROUPS.map((group) => describeGroup(group, client));
  return [`## ${CLIENT_TITLES[client]}`, '', ...groups.flat()];
}

function describeGroup({ title, features }: FeatureGroup, client: ClientName): string[] {
  const rows = features.flatMap((feature) => describeFeature(feature, client));
  if (rows.length === 0) return [];
  const heads = GRID_TARGET_NAMES.map((name) => TARGET_TITLES[name]);
  return [`### ${title}`, '', table(['Feature', 'Field', ...heads], rows), ''];
}

function describeFeature(feature: Feature, client: ClientName): string[][] {
  const asked = feature[client];
  if (asked === undefined) return [];
  const cells = GRID_TARGET_NAMES.map((name) => writeCell(findCell(feature, client, name)));
  return [[feature.title, asked.field, ...cells]];
}

function writeCell(cell: Cell | undefined): string {
  if (cell === undefined) return '';
  const { outcome, entries, message = '', bodies } = cell;
  switch (outcome) {
    case 'refused':
      return escapeCell(`refused: ${message}`);
    case 'noted':
      return [...new Set(entries.map(writeEntry))].join('<br>');
    default:
      return bodies.length > 1 ? `${WORDS[outcome]}, as ${bodies.length} requests` : WORDS[outcome];
  }
}

function writeEntry({ action, reason }: ReceiptEntry): string {
  return escapeCell(`${action}: ${reason.text}`);
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
}
