// Which test proves which promise of the door, and how often it tries; docs/proven.md is written from it.

import type { Sample } from '../soak/watch.ts';

export interface Proof {
  readonly promise: string;
  /** What is tried, with its full count. */
  readonly tried: string;
  /** The count of the everyday run, where that is smaller; `slow` for what runs in the slow suite alone. */
  readonly everyday?: string;
  readonly file: string;
  /** Stands in the title of a test there. */
  readonly test: string;
}

export const PROOFS: readonly Proof[] = [
  {
    promise:
      'Any body is either refused in the format of the protocol or translated to a valid request.',
    tried: '10,000 mutated bodies for each surface',
    everyday: '300 to 600',
    file: 'test/fuzz/fuzz.test.ts',
    test: '%s bodies are refused properly or carried validly',
  },
  {
    promise: 'An ambiguous request is refused.',
    tried: 'more than 30 raw requests',
    file: 'src/server/edge-raw.test.ts',
    test: '%s gets one 400 in JSON',
  },
  {
    promise: 'Pipelined requests are not confused with each other.',
    tried: 'several on one connection',
    file: 'src/server/edge-raw.test.ts',
    test: 'pipelined requests are answered in their order',
  },
  {
    promise: 'Bodies built to be expensive cost at most half a second of CPU time.',
    tried: '6 shapes of JSON of 99 MB',
    everyday: '8 MB, three times as long',
    file: 'test/security/bombs.test.ts',
    test: '%s by the million are refused for little processor time',
  },
  {
    promise: 'Compressed bodies are refused unread, in zstd after the first megabyte of text.',
    tried: 'gzip, brotli and zstd of 99 MB',
    everyday: '8 MB',
    file: 'test/security/bombs.test.ts',
    test: 'a body in %s is refused %s, whatever it would become',
  },
  {
    promise:
      'All large bodies together are limited to a part of the memory; without a credential bodies are tiny.',
    tried: 'bodies beyond the limit, of known and unknown size',
    file: 'src/server/edge-bodies.test.ts',
    test: 'large bodies beyond the room for all of them are refused with a wait',
  },
  {
    promise: 'An endless upstream response is cut off, by size and by time.',
    tried: 'events, comments and interim answers',
    file: 'src/upstreams/transport/response.test.ts',
    test: 'an answer without end is cut off at a byte cap',
  },
  {
    promise:
      'Names such as `__proto__` in arguments reach clients as they are and change nothing else.',
    tried: '10,000 random arguments, 5 kinds of clients',
    everyday: '300',
    file: 'test/security/round-trips.test.ts',
    test: 'arguments of a call reach every client as they are',
  },
  {
    promise: 'No foreign web page reaches a model or a setting, from any host name or port.',
    tried:
      'fetch, forms, images, beacons, event streams, WebSockets, links, rebinding, in Chromium',
    everyday: 'with `npm test`',
    file: 'test/browser/foreign-pages.test.ts',
    test: 'from %s reaches no model and no setting',
  },
  {
    promise: 'Only requests sent by a program on this machine are local.',
    tried: '90 rows of peers, hosts and headers',
    file: 'src/server/gates/locality.test.ts',
    test: 'remote: %j',
  },
  {
    promise: '`X-Forwarded-For` is used only from a trusted proxy, and read from the right.',
    tried: '30 forged chains',
    file: 'src/server/edge-access.test.ts',
    test: 'an address that only a header names changes nothing',
  },
  {
    promise: 'IP rules apply to every notation of an address.',
    tried: '800 comparisons',
    file: 'src/access/ip-rules.address-filter.test.ts',
    test: 'two hundred spellings meet the rules',
  },
  {
    promise: 'Many IP rules cost a request next to nothing.',
    tried: '10,000 rules, at most 50 µs of CPU time',
    file: 'test/security/address-rules.test.ts',
    test: 'of ten thousand rules of every prefix length',
  },
  {
    promise: 'At most 20 password guesses a minute and 100 an hour are checked.',
    tried: '10,000 guesses over the network',
    everyday: '360',
    file: 'test/security/guessing.test.ts',
    test: 'of many guesses twenty a minute',
  },
  {
    promise: 'At most 20 guesses of the gateway key an hour are checked for each address.',
    tried: 'each protocol, with honest clients behind the same address',
    file: 'src/server/edge-access.test.ts',
    test: 'whoever guesses at the key is told to wait',
  },
  {
    promise: 'Guesses do not slow down model requests.',
    tried:
      'CPU time of a refused guess compared with any refused request; files read while hashing',
    file: 'test/security/guessing.test.ts',
    test: 'a refused guess costs hardly more',
  },
  {
    promise: 'The time of a check does not reveal how much of a guess was right.',
    tried: 'Welch’s t over 100,000 samples, below 4.5',
    everyday: 'slow',
    file: 'test/slow/timing.test.ts',
    test: '%s: a nearly right guess takes as long as a wrong one',
  },
  {
    promise:
      'A session alone sets no credential of the console and sends none of an upstream elsewhere.',
    tried: 'each setting that would, with a cookie alone, a wrong and the right password',
    file: 'src/admin/access/session.test.ts',
    test: 'a session alone does not change %s by %j',
  },
  {
    promise: 'Sessions end with a sign-out, another password, or a new sign-in.',
    tried: 'each of them',
    file: 'src/access/console-sign-in.test.ts',
    test: 'signing in anew ends the session the browser had',
  },
  {
    promise: 'A few named paths are public; every other route asks for its credential.',
    tried: 'every route of the whole gateway',
    file: 'test/security/routes.test.ts',
    test: 'a few named paths are public',
  },
  {
    promise: 'No change is accepted from a foreign web page, whatever cookie it sends.',
    tried: 'every changing route, 6 kinds of pages',
    file: 'test/security/routes.test.ts',
    test: 'no change and no sign-in is taken from a page of elsewhere',
  },
  {
    promise: 'The key of a client does not open the console, nor its password a model.',
    tried: 'every route',
    file: 'test/security/routes.test.ts',
    test: 'the key of a client opens no route of the console',
  },
  {
    promise: 'Asking for an account does not reveal whether it exists.',
    tried: 'a disabled one beside an unknown one, in each protocol',
    file: 'test/security/account-probe.test.ts',
    test: 'an account that cannot be used and one that is not there',
  },
  {
    promise: 'No text of a client or an upstream becomes markup or script in the console.',
    tried: '200 texts in every stored field, in Chromium',
    everyday: 'with `npm test`',
    file: 'test/browser/xss.test.ts',
    test: 'model names and errors in the list of requests',
  },
  {
    promise: 'No credential of an account is stored, logged, returned or exported in plain text.',
    tried: '30 marked secrets through every flow',
    file: 'test/pool/canaries.test.ts',
    test: 'canaries in every flow: none in clear anywhere',
  },
  {
    promise: 'No client sees what an upstream says about the credential it got.',
    tried: 'refusals, answers and streams, in 3 spellings, in each protocol',
    file: 'test/security/upstream-errors.test.ts',
    test: 'the credential %s',
  },
  {
    promise: 'No credential of the gateway is in request logs, events, metrics or log files.',
    tried: '30 marked secrets, in several spellings',
    file: 'test/monitor/secrets.test.ts',
    test: 'no credential gets into the store, the feed, the metrics',
  },
  {
    promise: 'None is printed or left behind by a process that is killed or cannot start.',
    tried: 'the running program, with an upstream that repeats everything',
    file: 'test/security/process-secrets.test.ts',
    test: 'a program that is killed in the middle of everything',
  },
  {
    promise: 'Secrets entered in the console are encrypted or hashed before anything is written.',
    tried: 'every state of the config file',
    file: 'test/security/secrets-at-rest.test.ts',
    test: 'a client secret sent to the settings is sealed before it is written',
  },
  {
    promise:
      'An encrypted value can be decrypted only in its own place, and any change of it is detected.',
    tried: 'every character',
    file: 'src/sealing/sealing.test.ts',
    test: 'a change of any character is noticed',
  },
  {
    promise:
      'The gateway is built from few packages, each of one known content, none with an install script.',
    tried: 'at most 21 of our choice and 61 in all; nothing is installed beside the package',
    file: 'test/security/dependencies.test.ts',
    test: 'the gateway is built from no more than 21 packages',
  },
  {
    promise: 'URLs in requests can reach public hosts only.',
    tried: '100 spellings, redirects, rebinding',
    file: 'src/lib/net.test.ts',
    test: 'https://%s is neither asked for nor connected to',
  },
  {
    promise: 'A forged response to a sign-in adds no account.',
    tried: 'more than 20 attacks',
    file: 'test/oauth/sign-ins.test.ts',
    test: '%s adds no account',
  },
  {
    promise: 'No header of a client reaches an upstream of the Generate-Content wire.',
    tried: '1,000 random header sets',
    everyday: '300',
    file: 'test/security/headers.test.ts',
    test: 'of random header sets an upstream sees nothing',
  },
  {
    promise: 'Slow connections do not delay other clients and are closed.',
    tried: '4,000 connections',
    everyday: 'slow',
    file: 'test/slow/slow-connections.test.ts',
    test: 'while 4,000 connections trickle',
  },
  {
    promise: 'One IP address gets no more connections than its share.',
    tried: 'addresses of both kinds, proxies, this machine',
    file: 'src/server/connections.limit-connections.test.ts',
    test: 'T15: an address has no more connections',
  },
  {
    promise: 'Invalid multipart forms are refused and leave no file behind.',
    tried: 'more than 50 forms',
    file: 'test/e2e/forms.test.ts',
    test: 'uploads that break off end as gone clients',
  },
  {
    promise: 'Patterns of model names are matched in linear time.',
    tried: '1,000 patterns, 256 characters, 5 ms of CPU time in all',
    file: 'src/lib/names.wildcard.test.ts',
    test: '1,000 hostile patterns over a 256-character name',
  },
  {
    promise: 'No text makes a regular expression of the server take more than linear time.',
    tried: 'each one in the source, about 1,000 long texts',
    file: 'test/security/patterns.test.ts',
    test: 'regular expressions take linear time',
  },
  {
    promise: 'No path leads outside the folder of the console.',
    tried: '200 paths, links included',
    file: 'src/server/console.test.ts',
    test: 'two hundred ways out of the folder',
  },
  {
    promise: 'A text keeps every character and cannot add a frame to a stream.',
    tried: '10,000 texts, 5 kinds of clients',
    everyday: '300',
    file: 'test/security/round-trips.test.ts',
    test: 'a text reaches every client as it is',
  },
  {
    promise: 'A text in the log is one line of JSON without terminal escape sequences.',
    tried: '10,000 texts',
    everyday: '300',
    file: 'test/security/round-trips.test.ts',
    test: 'a text in the log is one line',
  },
  {
    promise: 'No client gets another’s data, and no session of one key affects another’s.',
    tried: '100,000 interleaved requests with retries and broken-off ones',
    everyday: '600',
    file: 'test/security/cross-talk.test.ts',
    test: 'of interleaved requests with retries',
  },
  {
    promise: 'Concurrent requests and images never exceed a budget.',
    tried: '200 calls at the same moment',
    file: 'src/access/budgets.test.ts',
    test: 'of two hundred requests and pictures at once exactly as many pass',
  },
  {
    promise: 'A hanging or failing access-control store does not affect model requests.',
    tried: 'both, for half a minute',
    file: 'test/security/stalled-stores.test.ts',
    test: 'model requests do not notice a store that %s',
  },
  {
    promise: 'A hanging or failing request-log store does not affect model requests.',
    tried: 'both',
    file: 'test/monitor/live.test.ts',
    test: 'a %s store touches no request',
  },
];

/** Of several processes that serve the same clients. */
export const CLUSTER_PROOFS: readonly Proof[] = [
  {
    promise:
      'Nothing is lost but what a killed replica had in hand, and with the replay of nginx nothing but streams that had begun; no stream that was cut ends as if it were whole.',
    tried:
      'kills, SIGSTOP, a rolling restart, cuts of the network to each store, refused and silent, crashes of the stores; `ISTHMUS_CHAOS_REQUESTS=10000`',
    everyday: 'slow',
    file: 'test/slow/chaos.test.ts',
    test: 'nothing is lost but what a killed replica had in hand',
  },
  {
    promise: 'Replicas of two versions serve together while one after the other is upgraded.',
    tried: 'from the first version that had replicas, as long as the history has it',
    everyday: 'slow',
    file: 'test/slow/chaos.test.ts',
    test: 'an upgrade from the first clustered version',
  },
  {
    promise: 'A connection on its way to a worker that is killed is served by another.',
    tried: 'six connections, one of them with a worker that hangs',
    file: 'test/e2e/workers.test.ts',
    test: 'a connection on its way to a worker that is killed',
  },
  {
    promise:
      'A refresh token that is good once is used once, whoever is cut off from the database.',
    tried:
      '12 callers at three replicas, whose clocks differ by a minute; a replica cut off before it asks, and before it can store',
    file: 'test/oauth/renewal-replicas.test.ts',
    test: 'is used once',
  },
  {
    promise:
      'A cooldown, a reading of a quota, the account of a session and a signature are known to all replicas, whose clocks may differ by a minute.',
    tried: 'two replicas, one a minute behind',
    file: 'test/pool/replicas.test.ts',
    test: 'a cooldown is known to every replica at once',
  },
  {
    promise: 'Clocks that differ by a minute break no limit, no budget and no request.',
    tried: 'three replicas, one a minute ahead and one behind, through kills',
    everyday: 'slow',
    file: 'test/slow/cluster.test.ts',
    test: 'the requests of a key are limited exactly over all of them',
  },
  {
    promise: 'A full disk loses no request and no request log, and needs no restart.',
    tried: 'the disk of the database, filled under a gateway',
    everyday: 'slow',
    file: 'test/slow/full-disk.test.ts',
    test: 'a disk that fills up while the gateway serves costs no request and no record',
  },
  {
    promise: 'Blocked output, such as a file on a full disk, affects no request.',
    tried: 'standard output and error, one process and two workers',
    file: 'test/e2e/deaf-output.test.ts',
    test: 'a full disk of standard output and error harms no request',
  },
  {
    promise:
      'Requests and pictures of a key are exact over three replicas, its tokens are reserved.',
    tried: '300 calls at once, with workers and in one process',
    file: 'test/pool/key-replicas.test.ts',
    test: 'requests of a minute and pictures of a day are exact over all replicas',
  },
  {
    promise: 'The overhead of several processes is bounded, and workers share the load evenly.',
    tried: 'one process, two gateways, two workers and Valkey in turns',
    everyday: 'slow',
    file: 'test/slow/cluster-cost.test.ts',
    test: 'a request with %s is at most %d times that of %s',
  },
  {
    promise:
      'A page of a large database costs 100 ms at most, 200 ms with what the server of PostgreSQL takes.',
    tried: 'SQLite and PostgreSQL, 1,000,000 records, 10,000 accounts, 1,000 keys',
    everyday: 'slow',
    file: 'test/slow/large-database.test.ts',
    test: 'a page of the records %s comes in time',
  },
  {
    promise:
      'Reading usage and latency of all groups and days delays nothing else for longer than 50 ms.',
    tried: 'SQLite and PostgreSQL, 1,000,000 records, 1,000 keys, 30 days',
    everyday: 'slow',
    file: 'test/slow/large-database.test.ts',
    test: 'long times of many groups are read without holding others up for long',
  },
];

interface ProvenParts {
  readonly proofs: readonly Proof[];
  readonly clusterProofs: readonly Proof[];
  readonly cluster: ClusterReport;
  readonly soak: SoakReport;
}

/** docs/proven.md */
export function describeProven({ proofs, clusterProofs, cluster, soak }: ProvenParts): string {
  const parts = [
    describeProofs(proofs),
    describeClusterProofs(clusterProofs, cluster),
    describeSoak(soak),
  ];
  return parts.join('\n');
}

/** What was written down of measured runs of several processes, a sentence or two each. */
export interface ClusterReport {
  readonly date: string;
  readonly machine: string;
  readonly runs: readonly string[];
}

function describeClusterProofs(
  proofs: readonly Proof[],
  { date, machine, runs }: ClusterReport,
): string {
  return [
    '## More than one process',
    '',
    'What [cluster.md](cluster.md) promises. What is not run every day is run by `npm run test:cluster`, its costs and the',
    'large database by the slow suite.',
    '',
    ...tableOf(proofs),
    '',
    `Measured on ${date} (${machine}):`,
    '',
    ...runs.map((run) => `- ${run}`),
    '',
  ].join('\n');
}

/** What the last long run of `npm run soak` wrote with `--report`. */
export interface SoakReport {
  readonly date: string;
  readonly machine: string;
  /** What else is to be known of the run, in a sentence. */
  readonly note?: string;
  readonly minutes: number;
  readonly requests: { readonly succeeded: number; readonly left: number; readonly failed: number };
  readonly reloads: number;
  readonly grown: { readonly megabytesPerMinute: number; readonly descriptors: number };
  readonly samples: readonly Sample[];
}

function describeSoak({
  date,
  machine,
  note,
  minutes,
  requests,
  reloads,
  grown,
  samples,
}: SoakReport): string {
  const { succeeded, left, failed } = requests;
  const rows = samples.map(
    ({ minute, megabytes, descriptors, lagMs, databaseMegabytes }) =>
      `| ${minute} | ${megabytes} MB | ${descriptors} | ${lagMs} ms | ${databaseMegabytes} MB |`,
  );
  return [
    '## The last long run',
    '',
    `\`npm run soak -- --minutes ${minutes} --report test/soak/report.json\` on ${date} (${machine}): small requests`,
    'on four surfaces, 100 long streams beside them, an answer in a hundred a fault of the upstream, clients',
    `that leave, and ${reloads} changes of the config file. ${succeeded} requests succeeded, ${failed} failed, ${left}`,
    `clients left. In the last two thirds memory changed by ${grown.megabytesPerMinute.toFixed(2)} MB a minute; descriptors`,
    `ended ${grown.descriptors} from where they began, once idle connections had closed. Records were kept for a quarter of an`,
    'hour, so that the database could show that it stops growing.',
    ...(note === undefined ? [] : [note]),
    '',
    '| Minute | Memory | Descriptors | 95 % of small requests within | Database |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

function tableOf(proofs: readonly Proof[]): readonly string[] {
  const rows = proofs.map(({ promise, tried, everyday = 'the same', file, test }) => {
    const count = everyday === 'slow' ? 'not run' : everyday;
    return `| ${promise} | ${tried} | ${count} | \`${file}\`: “${test} …” |`;
  });
  return ['| Promise | What is tested | Everyday | Test |', '| --- | --- | --- | --- |', ...rows];
}

function describeProofs(proofs: readonly Proof[]): string {
  return [
    '# What is proven',
    '',
    '<!-- Written by test/docs/proofs.ts; run "UPDATE_DOCS=1 npx vitest run test/docs" after a change. -->',
    '',
    'What [security.md](security.md) promises, with the test that would fail if it did not hold. Everyday',
    'counts run with `npm run check`, full ones with `npx node scripts/test.mjs slow`. Costs are CPU time of the',
    'working thread, never wall-clock time.',
    '',
    ...tableOf(proofs),
    '',
  ].join('\n');
}
