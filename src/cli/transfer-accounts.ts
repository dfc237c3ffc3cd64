// `isthmus accounts import | export`: many accounts in and out of a gateway.

import { writeFile } from 'node:fs/promises';
import type { JsonObject } from '../lib/json.ts';
import { codeOf } from '../lib/private-file.ts';
import {
  type Context,
  objectsOf,
  plain,
  readFileOrInput,
  readSecretLine,
  type Said,
  textOf,
  textsOf,
  writeTable,
} from './terminal.ts';

export type ImportFlags = Said<'upstream' | 'passphraseFile', string> & {
  readonly format: 'export' | 'refresh-tokens' | 'service-accounts';
};

const COLUMNS = {
  '#': 'index',
  outcome: 'outcome',
  label: (item: JsonObject) => textOf(item, 'label') || '-',
  note: 'reason',
};

/** @param path a file; `-` is the standard input */
export async function importAccounts(
  context: Context,
  path: string,
  { format, upstream, passphraseFile }: ImportFlags,
): Promise<void> {
  const { client, terminal, answer } = context;
  if (path === '-' && passphraseFile === '-') {
    throw new Error('The standard input cannot hold both: put the passphrase into a file.');
  }
  const text = await readFileOrInput(terminal, path);
  const isSealed = format === 'export' && text.trimStart().startsWith('sealed-export:');
  const body: JsonObject = { format, text };
  if (upstream !== undefined) body.upstream = upstream;
  if (isSealed || passphraseFile !== undefined) {
    if (path === '-' && passphraseFile === undefined) {
      throw new Error(
        'The export is sealed: name a file that holds its passphrase with --passphrase-file.',
      );
    }
    body.passphrase = await readSecretLine(terminal, {
      ...{ file: passphraseFile, flag: '--passphrase-file' },
      question: 'Passphrase of the export: ',
    });
  }
  const result = await client.call('POST', '/api/accounts/import', body);
  if (Number(result.failed) > 0) terminal.setFailed();
  answer(result, () => {
    terminal.print(writeTable(COLUMNS, objectsOf(result, 'results')));
    const { added, updated, failed } = result;
    terminal.note(`${added} added, ${updated} updated, ${failed} failed.`);
  });
}

export type ExportFlags = Said<'passphraseFile', string> & Said<'force', boolean>;

/** @param path a new file, readable by its owner alone; `-` is the standard output */
export async function exportAccounts(
  context: Context,
  path: string,
  { passphraseFile, force = false }: ExportFlags,
): Promise<void> {
  const { client, terminal, answer } = context;
  const passphrase = await readNewPassphrase(context, passphraseFile);
  const result = await client.call('POST', '/api/accounts/export', { passphrase });
  const { sealed: _, ...rest } = result;
  const sealed = textOf(result, 'sealed');
  if (path === '-') answer(result, () => terminal.print(sealed));
  else {
    await writeNewFile(path, sealed, force);
    const count = textOf(result, 'count');
    const are = count === '1' ? 'account is' : 'accounts are';
    answer({ file: path, ...rest }, () => terminal.print(`${count} ${are} in ${plain(path)}.`));
  }
  const left = textsOf(result, 'left');
  if (left.length > 0) {
    terminal.note(plain(`Not in it, because they come with the process: ${left.join(', ')}`));
  }
}

async function writeNewFile(path: string, text: string, force: boolean): Promise<void> {
  try {
    await writeFile(path, `${text}\n`, { mode: 0o600, flag: force ? 'w' : 'wx' });
  } catch (error) {
    if (codeOf(error) === 'EEXIST')
      throw new Error(`${path} is there already. Name another file, or say --force.`);
    throw error;
  }
}

/** Asked twice, since nobody can open the export after a slip. */
async function readNewPassphrase({ terminal }: Context, file: string | undefined): Promise<string> {
  const question = 'New passphrase, at least 12 characters: ';
  const passphrase = await readSecretLine(terminal, { file, question, flag: '--passphrase-file' });
  if (file !== undefined || !terminal.isInteractive) return passphrase;
  const again = await terminal.askSecret('The same again: ');
  if (again.trim() === passphrase) return passphrase;
  throw new Error('The two are not the same. Nothing was exported.');
}
