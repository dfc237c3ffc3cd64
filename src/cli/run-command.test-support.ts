// Runs one command line of `isthmus` against the gateway of a test, at a terminal that remembers.

import { createFakeClock } from '../../test/support/fake-clock.ts';
import type { AdminClient } from './admin-client.ts';
import { CliCommand, type CommandParts } from './command.ts';
import {
  createFakeTerminal,
  type FakeAnswers,
  type FakeTerminal,
} from './fake-terminal.test-support.ts';
import { addCommands } from './program.ts';

export interface RunOptions extends FakeAnswers, Partial<CommandParts> {}

/** The words of a command line; quotes hold blanks together. */
export function splitWords(line: string): string[] {
  return Array.from(line.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, bare]) => quoted ?? bare ?? '');
}

/** @throws what the command throws; commander's own refusals are kept from the test's output */
export async function runCommand(
  line: string,
  { connect = noGateway, clock = createFakeClock(), ...given }: RunOptions = {},
): Promise<FakeTerminal> {
  const terminal = createFakeTerminal(given);
  const program = new CliCommand('isthmus').exitOverride();
  program.configureOutput({ writeErr: () => undefined, writeOut: terminal.print });
  addCommands(program, { terminal, clock, connect });
  await program.parseAsync(splitWords(line), { from: 'user' });
  return terminal;
}

async function noGateway(): Promise<AdminClient> {
  throw new Error('This command needs no gateway.');
}
