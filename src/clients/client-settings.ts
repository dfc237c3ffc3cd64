// What it means to set a client up: the values it needs, the files it reads them from, and how it is started.

/** What the settings of a client are filled with. */
export interface SetUp {
  /** Of the gateway, without a slash at its end. */
  readonly address: string;
  readonly key: string;
  readonly model: string;
}

export type Variable = readonly [name: string, value: string];

export type SettingValue =
  | string
  | number
  | boolean
  | readonly SettingValue[]
  | { readonly [name: string]: SettingValue };

/** A field, or the item of a list that has this value in this field. */
export type PathStep = string | { readonly field: string; readonly is: string };

export interface SettingEntry {
  readonly path: readonly PathStep[];
  readonly value: SettingValue;
  /** What a file of this kind has to hold, whatever stands there. */
  readonly onlyIfMissing?: boolean;
  /** Fields of the value that the client itself sets anew. */
  readonly volatile?: readonly string[];
}

export type SettingsFormat = 'json' | 'toml' | 'yaml' | 'dotenv' | ShellFormat;

export type ShellFormat = 'posix' | 'fish' | 'powershell';

export interface SettingsFile {
  readonly format: SettingsFormat;
  readonly folder: FolderPlace;
  /** The first of these that is there is meant; where none is, the first of all is made. */
  readonly names: readonly [string, ...string[]];
  write(setUp: SetUp): readonly SettingEntry[];
}

/** Where a client looks for its files: the variables it documents for it, in their order, else below the home folder. */
export interface FolderPlace {
  readonly variables?: readonly { readonly name: string; readonly below?: string }[];
  /** Below the home folder, with slashes. */
  readonly home: string;
}

/** How a client is started on a gateway without changing its own files. */
export interface LaunchPlan {
  readonly variables?: readonly Variable[];
  /** Before the arguments that a person gives. */
  readonly args?: readonly string[];
  /** For a client that takes some settings from a file only. */
  readonly file?: LaunchFile;
}

export interface LaunchFile {
  /** Below a folder of the client's own, which the data folder has. */
  readonly name: string;
  readonly content: string | SettingsCopy;
  /** How the client is told of the file. */
  hand(path: string, folder: string): Pick<LaunchPlan, 'variables' | 'args'>;
}

/** The client's own file with these values; only made where it has others. */
interface SettingsCopy {
  readonly of: SettingsFile;
  readonly entries: readonly SettingEntry[];
}

/** A client that `isthmus connect` and `isthmus launch` know. */
export interface CodingClient {
  readonly id: string;
  readonly name: string;
  /** Of its command. */
  readonly program: string;
  /** Other words it is looked for by. */
  readonly words: string;
  /** The model of its examples, where the gateway offers that. */
  readonly model: string;
  readonly files: readonly [SettingsFile, ...SettingsFile[]];
  /** The file of a project that is nobody else's, where the client has one. */
  readonly projectFile?: SettingsFile;
  launch(setUp: SetUp): LaunchPlan;
  /** What a person has to know who is connected. */
  readonly hint?: string;
}

/** A field of an object below a path, for each of its values. */
export function entriesOf(
  path: readonly PathStep[],
  values: { readonly [name: string]: SettingValue },
): readonly SettingEntry[] {
  return Object.entries(values).map(([name, value]) => ({ path: [...path, name], value }));
}
