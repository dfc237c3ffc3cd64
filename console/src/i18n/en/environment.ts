// The variables of the environment, on the page of the settings.

export const environment = {
  given: 'Set at startup',
  givenHint:
    'Set by the environment or a flag. These values override the config file, so the same settings are locked on their pages. To change one, change it where the gateway is started and restart it.',
  noneGiven: 'No setting comes from the environment or a flag.',
  others: 'Not set at startup',
  othersHint:
    'The value comes from the config file or is the default. Settings that require a restart are set where the gateway is started; the others can be changed here immediately.',
  unset: 'Not set',
  origins: { flag: 'flag', environment: 'environment', file: 'config file', default: 'default' },
  needsRestart: 'requires restart',
  change: 'Change',
  changeAtOnce: 'Change now',
  restart: {
    socket: 'The gateway opens its socket once, at startup.',
    path: 'The gateway opens its folders once, at startup.',
    process: 'A process keeps the environment it was started with.',
  },
  about: {
    API_KEY: 'The key that clients send with model requests.',
    WEB_PASSWORD:
      'The password of this console. If unset, the password of the config file is used, then the gateway key.',
    ABV_MAX_BODY_SIZE: 'Maximum request body size, in bytes.',
    ABV_DIST_PATH: 'Folder with the files of this console.',
    PORT: 'Port to listen on; 0 selects a free port.',
    HOST: 'Address to listen on; 0.0.0.0 serves the whole network.',
    ISTHMUS_SECRET_KEY_OLD: 'The previous secret key, used only by isthmus secret rotate.',
    ISTHMUS_TLS_CERT: 'Certificate file for HTTPS.',
    ISTHMUS_TLS_KEY: 'Key file of that certificate.',
    AUTH_MODE: 'Who needs a key: off, auto or strict.',
    UPSTREAM_PROFILE: 'Profile of the upstream from the environment.',
    UPSTREAM_BASE_URL: 'Base URL of that upstream.',
    UPSTREAM_API_KEYS: 'API keys of that upstream; each becomes an account.',
    ISTHMUS_UPSTREAM_VOCABULARY:
      'Model naming of a generic upstream: real (vendor names) or neutral.',
    ISTHMUS_UPSTREAM_AUTH: 'How a generic upstream expects the key: bearer, header or query.',
    ISTHMUS_UPSTREAM_LOCATION: 'Region of a vertex upstream.',
    ISTHMUS_UPSTREAM_PROJECT: 'Project of the accounts created from keys in the environment.',
    GEMINI_API_KEY: 'API key of the public Gemini API; sufficient for one account.',
    DATABASE_URL:
      'PostgreSQL database for several gateways that share state. Only its host is shown.',
    DATABASE_POOL_SIZE: 'Maximum number of connections to PostgreSQL.',
    DATABASE_CONNECT_TIMEOUT: 'Seconds to wait for a connection to PostgreSQL.',
    DATABASE_STATEMENT_TIMEOUT: 'Seconds that PostgreSQL may take for a statement.',
    REDIS_URL:
      'Valkey or Redis server for several gateways that share state. Only its host is shown.',
    TRUSTED_PROXIES: 'IP addresses and ranges whose X-Forwarded-For header is trusted.',
    ISTHMUS_ALLOWED_HOSTS: 'Allowed host names for local requests, in addition to loopback names.',
    ISTHMUS_CORS_ORIGINS: 'Allowed origins (CORS): web pages that may call with a key.',
    ISTHMUS_OUTBOUND_PROXY: 'Outbound proxy for all calls of the gateway. Only the host is shown.',
    HTTPS_PROXY: 'Proxy for calls to https URLs. Only the host is shown.',
    HTTP_PROXY: 'Proxy for calls to http URLs. Only the host is shown.',
    ALL_PROXY: 'Proxy for calls to URLs of either kind. Only the host is shown.',
    NO_PROXY: 'Hosts called without a proxy.',
    ISTHMUS_FETCH_REMOTE_MEDIA:
      'Whether to fetch images and documents that requests reference by URL.',
    LOG_LEVEL: 'Log level.',
    ISTHMUS_UPDATE_CHECK: 'Whether to ask once a day if a newer version is published: auto or off.',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'OTLP/HTTP endpoint for OpenTelemetry traces and metrics.',
    OTEL_EXPORTER_OTLP_HEADERS: 'Headers sent with traces and metrics.',
    OTEL_SERVICE_NAME: 'Service name of the traces and metrics.',
    OTEL_RESOURCE_ATTRIBUTES: 'Additional attributes of that service.',
    OTEL_TRACES_SAMPLER: 'Trace sampler.',
    OTEL_TRACES_SAMPLER_ARG: 'Sampling ratio of a ratio-based sampler.',
    ISTHMUS_REPLICA_NAME:
      'Name of this gateway in request logs when several serve together. If unset, the name of the machine.',
    WORKERS: 'Number of processes that serve on the port; auto is one for each core.',
    ISTHMUS_DATA_DIR: 'Folder for all data of the gateway, including the config file.',
    ISTHMUS_DRAIN_DELAY:
      'Seconds a stopping gateway still accepts requests, so that a load balancer can notice.',
    ISTHMUS_SECRET_KEY:
      'Key that encrypts stored credentials. If unset, the file secret.key in the data folder is used.',
  },
} as const;
