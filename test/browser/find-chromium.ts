// Finds the system's Chromium.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** `CHROMIUM_PATH` where that is set, else the first of the usual names in `PATH`; undefined for none. */
export function findChromium(
  variables: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  const { CHROMIUM_PATH: chosen, PATH = '' } = variables;
  if (chosen !== undefined && chosen !== '') return isProgram(chosen) ? chosen : undefined;
  const folders = [...PATH.split(delimiter), '/usr/bin'].filter((folder) => folder !== '');
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
