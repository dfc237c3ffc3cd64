// The variables of the environment, on the page of the settings.

export const environment = {
  given: 'Set at the start',
  givenHint:
    'By the environment or a flag. They win over the config file, so the same settings are locked on their pages. To change one, change it where the gateway is started, and start it again.',
  noneGiven: 'Nothing was set by the environment or a flag.',
  others: 'Not set at the start',
  othersHint:
    'What holds comes from the config file or is the default. Those that need a restart are set where the gateway is started; the others are changed here at once.',
  unset: 'Not set',
  origins: {
    flag: 'flag',
    environment: 'environment',
    file: 'config file',
    default: 'default',
  },
  needsRestart: 'needs a restart',
  change: 'Change it',
  changeAtOnce: 'Change it at once',
  restart: {
    socket: 'The gateway opens its socket once, at the start.',
    path: 'The gateway opens its folders once, at the start.',
    process: 'A process keeps the environment it was started with.',
  },
  about: {
    API_KEY: 'The key that clients send with model requests.',
    WEB_PASSWORD:
      'The password of this console. Without it the one of the config file holds, else the gateway key.',
    ABV_MAX_BODY_SIZE: 'The largest request body, in bytes.',
    ABV_DIST_PATH: 'The folder of this console’s files.',
    PORT: 'The port to listen on; 0 takes a free one.',
    HOST: 'The address to listen on; 0.0.0.0 serves the whole network.',
    AUTH_MODE: 'Who needs a key: off, auto or strict.',
    UPSTREAM_PROFILE: 'How the upstream of the environment is reached.',
    UPSTREAM_BASE_URL: 'The address of that upstream.',
    UPSTREAM_API_KEYS: 'Keys of that upstream; each becomes an account.',
    ISTHMUS_UPSTREAM_VOCABULARY: 'Which words a generic upstream takes: real or neutral.',
    ISTHMUS_UPSTREAM_AUTH: 'How a key travels to a generic upstream: bearer, header or query.',
    ISTHMUS_UPSTREAM_LOCATION: 'The region of a vertex upstream.',
    ISTHMUS_UPSTREAM_PROJECT: 'The project of the accounts made from keys of the environment.',
    GEMINI_API_KEY: 'A key of the public Gemini API; enough by itself for one account.',
    DATABASE_URL:
      'A PostgreSQL database, for several gateways side by side. Only its host is shown.',
    REDIS_URL:
      'A Valkey or Redis server, for several gateways side by side. Only its host is shown.',
    TRUSTED_PROXIES: 'Addresses and ranges whose X-Forwarded-For is believed.',
    ISTHMUS_ALLOWED_HOSTS:
      'Host names, besides the loopback ones, under which local requests may come.',
    ISTHMUS_CORS_ORIGINS: 'Origins of web pages that may call with a key.',
    ISTHMUS_FETCH_REMOTE_MEDIA:
      'Whether images and documents that requests name by address are fetched.',
    LOG_LEVEL: 'The least level that is logged.',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'Where OpenTelemetry traces and metrics go, as OTLP over HTTP.',
    OTEL_EXPORTER_OTLP_HEADERS: 'Headers sent along with traces and metrics.',
    OTEL_SERVICE_NAME: 'The service that traces and metrics are of.',
    OTEL_RESOURCE_ATTRIBUTES: 'What else is said of that service.',
    OTEL_TRACES_SAMPLER: 'Which traces are kept.',
    OTEL_TRACES_SAMPLER_ARG: 'The part of all traces that a sampler by ratio keeps.',
    ISTHMUS_DATA_DIR: 'The folder of all that the gateway stores, the config file too.',
    ISTHMUS_SECRET_KEY:
      'The key that seals stored credentials. Without it the file secret.key in the data folder.',
  },
} as const;
