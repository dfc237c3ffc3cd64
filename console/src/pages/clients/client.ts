// What a client is on this page: a name, the ways it is set up, and the steps of each with their snippets.

import type { SetUp, Variable } from '../../../../src/clients/client-settings.ts';
import { type SetUpVerb, type Shell, writeExport } from '../../../../src/clients/write-settings.ts';

export type { SetUp };

/** What a step is about; the texts of the page are named after these. */
type StepKind =
  | 'variables'
  | 'file'
  | 'install'
  | 'code'
  | 'start'
  | 'signIn'
  | 'once'
  | 'list'
  | 'ask'
  | 'address'
  | 'key'
  | 'model';

export interface Step {
  readonly kind: StepKind;
  /** The file a snippet goes into. */
  readonly file?: string;
  readonly code: string;
}

/** One way to set a client up: for a shell, a language or a package. */
export interface Way {
  readonly id: string;
  readonly name: string;
  write(setUp: SetUp): readonly Step[];
}

export type ClientGroup = 'clis' | 'sdks' | 'others';

export interface Client {
  /** Stands in the address of the page. */
  readonly id: string;
  readonly name: string;
  readonly group: ClientGroup;
  /** Other words it is looked for by. */
  readonly words?: string;
  /** The model of its examples, where the gateway offers that. */
  readonly model: string;
  readonly ways: readonly [Way, ...Way[]];
  /** Of `isthmus` on the machine of the client, where that knows it. */
  command?(verb: SetUpVerb, setUp: SetUp, shell: Shell): string;
}

/** The ways of a client that is set up in a shell. */
export function inShells(write: (setUp: SetUp, shell: Shell) => readonly Step[]): Client['ways'] {
  return [
    { id: 'posix', name: 'bash, zsh', write: (setUp) => write(setUp, 'posix') },
    { id: 'powershell', name: 'PowerShell', write: (setUp) => write(setUp, 'powershell') },
  ];
}

export function writeVariables(variables: readonly Variable[], shell: Shell): string {
  return variables.map((variable) => writeExport(variable, shell)).join('\n');
}

/** A file below the home folder, as the system of the shell writes it. */
export function writePlace(path: string, shell: Shell): string {
  return shell === 'posix' ? `~/${path}` : `%USERPROFILE%\\${path.replaceAll('/', '\\')}`;
}
