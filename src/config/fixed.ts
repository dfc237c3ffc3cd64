// Settings that a program gives in place of the config file; they last as long as the process.

import type { JsonObject } from '../lib/json.ts';
import { type ConfigSource, checkText, requireGood, textOfConfig } from './file.ts';
import { ConfigError } from './values.ts';

const PATH = 'The settings';

/** @param settings may be anything; what cannot be used is told by `load` */
export function fixedSource(settings: object): ConfigSource {
  let text = JSON.stringify(settings);
  return {
    path: PATH,
    async load() {
      const read = await checkText(text);
      if (read.kind === 'bad') throw new ConfigError(PATH, read.problems);
      if (read.kind === 'good') return { ...read, origin: 'file', problems: [] };
      return { config: {}, raw: {}, origin: 'defaults', problems: [] };
    },
    read: () => checkText(text),
    async write(raw: JsonObject) {
      const good = await requireGood(PATH, raw);
      text = textOfConfig(raw);
      return good;
    },
    keepLastGood: async () => undefined,
    follow: () => ({ close: () => undefined }),
  };
}
