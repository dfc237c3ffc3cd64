// An empty folder for one test, which is removed behind it.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** For a test, or what is done before each. @param name part of its name */
export function makeTestFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `isthmus-${name}-`));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
