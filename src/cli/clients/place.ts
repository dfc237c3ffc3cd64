// Where the files and the program of a client are on this machine.

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, join, resolve } from 'node:path';
import type { FolderPlace, SettingsFile, SettingsFormat } from '../../clients/client-settings.ts';
import { processVariables } from '../../config/env.ts';

/** What places depend on. */
export interface Machine {
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly folder: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

export function thisMachine(): Machine {
  return {
    home: homedir(),
    platform: process.platform,
    folder: process.cwd(),
    variables: processVariables(),
  };
}

export interface FoundFile {
  readonly path: string;
  readonly format: SettingsFormat;
}

export function findFile(file: SettingsFile, machine: Machine): FoundFile {
  if (file.format === 'posix') return findShellFile(machine);
  const folder = findFolder(file.folder, machine);
  const paths = file.names.map((name) => join(folder, name));
  const path = paths.find((one) => existsSync(one)) ?? paths[0] ?? folder;
  return { path, format: file.format };
}

export function findProjectFile(file: SettingsFile, { folder }: Machine): FoundFile {
  return { path: join(folder, file.folder.home, file.names[0]), format: file.format };
}

function findFolder({ variables = [], home }: FolderPlace, machine: Machine): string {
  for (const { name, below = '' } of variables) {
    const value = machine.variables[name]?.trim() ?? '';
    if (value !== '') return join(resolve(machine.folder, withHome(value, machine)), below);
  }
  return join(machine.home, ...home.split('/'));
}

function withHome(path: string, { home }: Machine): string {
  return path.replace(/^~(?=$|[\\/])/, () => home);
}

/** The file that a new shell of this person begins with. */
function findShellFile(machine: Machine): FoundFile {
  const { home, platform, variables } = machine;
  if (platform === 'win32') {
    const profile = 'Documents/PowerShell/Microsoft.PowerShell_profile.ps1';
    return { path: join(home, ...profile.split('/')), format: 'powershell' };
  }
  const shell = basename(variables.SHELL ?? '');
  if (shell === 'zsh') return { path: join(variables.ZDOTDIR || home, '.zshrc'), format: 'posix' };
  if (shell === 'fish') {
    const configuration = variables.XDG_CONFIG_HOME || join(home, '.config');
    return { path: join(configuration, 'fish', 'config.fish'), format: 'fish' };
  }
  // A terminal of macOS opens a login shell, which reads another file.
  const name = platform === 'darwin' ? '.bash_profile' : '.bashrc';
  return { path: join(home, name), format: 'posix' };
}

export function findProgram(name: string, { platform, variables }: Machine): string | undefined {
  const folders = (variables.PATH ?? variables.Path ?? '').split(delimiter);
  const endings = platform === 'win32' ? (variables.PATHEXT ?? '.EXE;.CMD;.BAT').split(';') : [''];
  const paths = folders
    .filter((folder) => folder !== '')
    .flatMap((folder) => endings.map((ending) => join(folder, name + ending.toLowerCase())));
  return paths.find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
