// A gateway inside another program, which asks it by function call or over a port.

import { readFileSync } from 'node:fs';
import { openGateway } from './cli/open-gateway.ts';
import { explainListening } from './cli/start-checks.ts';
import { readEnvironment } from './config/env.ts';
import { fixedSource } from './config/file.ts';
import { messageOf } from './lib/localized-message.ts';
import type { createGateway as declared } from './public-types.ts';
import { answerInProcess } from './server/in-process.ts';

export const openEmbedded: typeof declared = async (options = {}) => {
  const { dataDir, host, port, authMode, logLevel, settings, onLog } = options;
  const gateway = await openGateway({
    flags: { dataDir, host, port, authMode, logLevel },
    environment: readEnvironment({ variables: options.environment ?? {}, readText }),
    source: settings && fixedSource(settings),
    output: { isTerminal: false, output: { write: (lines) => onLog?.(lines) } },
    onLogFault: (error) => onLog?.(describeFault(error)),
  });
  const { app, config } = gateway;
  app.start();
  let closing: Promise<void> | undefined;
  return {
    version: app.version,
    async fetch(input, { clientAddress, ...init } = {}) {
      if (closing !== undefined) throw new Error('The gateway is closed.');
      const isWhole = input instanceof Request && Object.keys(init).length === 0;
      const request = isWhole ? input : new Request(input, init);
      return answerInProcess(app.server.http, request, { clientAddress });
    },
    listen: () =>
      app.server.listen().catch((error: unknown) => {
        throw explainListening(error, config.current());
      }),
    close() {
      closing ??= gateway.close();
      return closing;
    },
  };
};

const readText = (path: string): string => readFileSync(path, 'utf8');

function describeFault(error: unknown): string {
  const message = messageOf(error);
  const msg = 'The log cannot be written to its files.';
  return `${JSON.stringify({ level: 40, time: Date.now(), msg, error: { message } })}\n`;
}
