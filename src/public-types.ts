// What the package offers to programs: the build takes this file as it is for the types of the library, so it imports nothing.

/** What a gateway is made with. Nothing of it has to be there. */
export interface GatewayOptions {
  /** Folder of all that the gateway stores. Default: `~/.isthmus`, as the command has it; one gateway each. */
  readonly dataDir?: string | undefined;
  /** Address that `listen` takes. Default: what the settings say, else 127.0.0.1. */
  readonly host?: string | undefined;
  /** Port that `listen` takes; 0 is a free one. Default: what the settings say, else 8045. */
  readonly port?: number | undefined;
  /** Who needs a key: `off` nobody, `auto` whoever is not known to be of this machine, `strict` everybody. */
  readonly authMode?: 'off' | 'auto' | 'strict' | undefined;
  readonly logLevel?:
    | 'trace'
    | 'debug'
    | 'info'
    | 'warn'
    | 'error'
    | 'fatal'
    | 'silent'
    | undefined;
  /**
   * Variables by the names of docs/configuration.md, such as `API_KEY` or `UPSTREAM_API_KEYS`. Default: none.
   * Give the environment of the process to take those it has.
   */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * The settings, as `gui_config.json` has them, in place of that file: it is then neither read nor written, and what is
   * changed in the console lasts as long as the gateway.
   */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
  /** Given the lines of the log, in JSON, each with its end. They are in files of the data folder as well. */
  readonly onLog?: ((lines: string) => void) | undefined;
}

/** What `fetch` takes beside what the standard has. */
export interface GatewayRequestInit extends RequestInit {
  /**
   * The address of whoever asks, for authentication and IP rules. Without it nobody is taken for a program of this
   * machine: a key is needed unless `authMode` is `off`.
   */
  readonly clientAddress?: string | undefined;
}

/** A gateway that serves until it is closed. */
export interface Gateway {
  /** The release. */
  readonly version: string;
  /**
   * Answers a request in this process, as it would over a port; no port is open for it. Only path, query, headers and
   * body of the address count. Streams stream, and aborting ends the work.
   */
  fetch(request: Request | string | URL, init?: GatewayRequestInit): Promise<Response>;
  /**
   * Listens as well, for other programs and for the console.
   * @throws Error with the way out when it cannot listen there
   */
  listen(): Promise<{ readonly url: string; readonly port: number }>;
  /** Lets running answers finish, and closes everything. */
  close(): Promise<void>;
}

/**
 * Makes a gateway. It changes nothing of the process: no signals, no exit, no variables, no output. A process can have
 * several, each with a data folder of its own.
 * @throws Error that names each setting or variable that cannot be used, or a folder that cannot be written
 */
export declare function createGateway(options?: GatewayOptions): Promise<Gateway>;
