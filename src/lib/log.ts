// The log as the parts of the gateway write to it: structured lines, each with a sentence.

export interface LineLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** For who tells of trouble alone. */
export type WarnLog = Pick<LineLog, 'warn'>;
