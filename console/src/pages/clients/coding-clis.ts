// The coding CLIs as steps to do by hand; what each of them needs is what `isthmus connect` and `isthmus launch` give it.

import type { CodingClient, SetUp } from '../../../../src/clients/client-settings.ts';
import { CODING_CLIENTS } from '../../../../src/clients/coding-clients.ts';
import {
  type Shell,
  writeSettings,
  writeSetUpCommand,
  writeWord,
} from '../../../../src/clients/write-settings.ts';
import { type Client, inShells, type Step, writePlace, writeVariables } from './client.ts';

type WriteSteps = (client: CodingClient, setUp: SetUp, shell: Shell) => readonly Step[];

/** Those that are set up otherwise than by their first file. */
const OTHER_STEPS: Readonly<Record<string, WriteSteps>> = {
  'claude-code': writeVariableSteps,
  copilot: writeVariableSteps,
  'qwen-code': writeVariableSteps,
  'gemini-cli': (client, setUp, shell) => [
    ...writeFileStep(client, { index: 0, kind: 'signIn' }, setUp, shell),
    ...writeFileStep(client, { index: 1, kind: 'file' }, setUp, shell),
    { kind: 'start', code: client.program },
  ],
  cline: ({ program }, { address, key, model }, shell) => {
    const [base, secret, name] = [`${address}/v1`, key, model].map((one) => writeWord(one, shell));
    return [
      { kind: 'once', code: `cline auth openai-compatible -b ${base} -k ${secret} -m ${name}` },
      { kind: 'start', code: program },
    ];
  },
  pi: (client, setUp, shell) => [
    ...writeFileStep(client, { index: 0, kind: 'file' }, setUp, shell),
    {
      kind: 'start',
      code: `pi --provider isthmus --model ${writeWord(setUp.model, shell)}`,
    },
  ],
};

const [FIRST, ...OTHERS] = CODING_CLIENTS;

export const CODING_CLIS: readonly [Client, ...Client[]] = [
  toClient(FIRST),
  ...OTHERS.map(toClient),
];

function toClient(client: CodingClient): Client {
  const { id, name, words, model } = client;
  const write = OTHER_STEPS[id] ?? writeFileSteps;
  const ways = inShells((setUp, shell) => write(client, setUp, shell));
  return {
    ...{ id, name, words, model, group: 'clis', ways },
    command: (verb, setUp, shell) => writeSetUpCommand(verb, id, setUp, shell),
  };
}

function writeFileSteps(client: CodingClient, setUp: SetUp, shell: Shell): readonly Step[] {
  return [
    ...writeFileStep(client, { index: 0, kind: 'file' }, setUp, shell),
    { kind: 'start', code: client.program },
  ];
}

function writeFileStep(
  { files }: CodingClient,
  { index, kind }: { readonly index: number; readonly kind: Step['kind'] },
  setUp: SetUp,
  shell: Shell,
): readonly Step[] {
  const file = files[index];
  if (file === undefined) return [];
  const { folder, names, format } = file;
  const place = [folder.home, names[0]].filter((part) => part !== '').join('/');
  const code = writeSettings(format, file.write(setUp)).trimEnd();
  return [{ kind, file: writePlace(place, shell), code }];
}

function writeVariableSteps(client: CodingClient, setUp: SetUp, shell: Shell): readonly Step[] {
  const { variables = [], args = [] } = client.launch(setUp);
  const start = [
    client.program,
    ...args.map((arg) => (arg.startsWith('-') ? arg : writeWord(arg, shell))),
  ];
  return [
    { kind: 'variables', code: writeVariables(variables, shell) },
    { kind: 'start', code: start.join(' ') },
  ];
}
