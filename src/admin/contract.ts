// The types of the admin API that the console shares, taken from the schemas of the routes.

import type { XStatic } from 'typebox/schema';
import type { ADDRESS_RULE_SCHEMA } from '../access/ip-rules.ts';
import type { TranscriptBlock } from '../canonical/transcript.ts';
import type {
  ACCESS_LOG_SCHEMA,
  ADDRESS_CHECK_SCHEMA,
  ADDRESS_RULE_CHANGE_SCHEMA,
  ADDRESS_RULES_SCHEMA,
  CREATED_KEY_SCHEMA,
  KEY_CHANGE_SCHEMA,
  KEY_LIST_SCHEMA,
  KEY_SCHEMA,
  NEW_ADDRESS_RULE_SCHEMA,
  NEW_KEY_SCHEMA,
  SESSION_SCHEMA,
} from './access/schemas.ts';
import type { NEW_ACCOUNT_SCHEMA } from './account-input.ts';
import type { EXPORTED_SCHEMA, IMPORT_SCHEMA, IMPORTED_SCHEMA } from './account-transfer.ts';
import type { CHANGE_SCHEMA, ORDERED_SCHEMA, REVOCATION_SCHEMA } from './accounts.ts';
import type { ENVIRONMENT_SCHEMA } from './config/environment.ts';
import type { PRESETS_SCHEMA, SECTION_SCHEMA } from './config/sections.ts';
import type { MODELS_SCHEMA, ROUTE_SCHEMA } from './models.ts';
import type {
  LogsJson,
  OverviewJson,
  ReplayJson,
  RequestDetailJson,
  RequestListJson,
  RequestRowJson,
  UsageJson,
} from './monitor/schemas.ts';
import type {
  ACCOUNT_LIST_SCHEMA,
  ACCOUNT_SCHEMA,
  COOLDOWN_SCHEMA,
  ERROR_SCHEMA,
  QUOTA_SCHEMA,
} from './schemas.ts';
import type { SIGN_IN_SCHEMA, START_SCHEMA, STARTED_SCHEMA } from './sign-ins.ts';
import type { TEST_SCHEMA } from './try-account.ts';
import type { UPSTREAMS_SCHEMA } from './upstreams.ts';

export type { ErrorKind } from '../canonical/error.ts';

export type ErrorAnswer = XStatic<typeof ERROR_SCHEMA>;

export type Account = XStatic<typeof ACCOUNT_SCHEMA>;
export type AccountList = XStatic<typeof ACCOUNT_LIST_SCHEMA>;
export type AccountChange = XStatic<typeof CHANGE_SCHEMA>;
export type NewAccount = XStatic<typeof NEW_ACCOUNT_SCHEMA>;
export type AccountTest = XStatic<typeof TEST_SCHEMA>;
export type AccountImport = XStatic<typeof IMPORT_SCHEMA>;
export type ImportedAccounts = XStatic<typeof IMPORTED_SCHEMA>;
export type ExportedAccounts = XStatic<typeof EXPORTED_SCHEMA>;
export type OrderedAccounts = XStatic<typeof ORDERED_SCHEMA>;
export type Revocation = XStatic<typeof REVOCATION_SCHEMA>;
export type Cooldown = XStatic<typeof COOLDOWN_SCHEMA>;
export type Quota = XStatic<typeof QUOTA_SCHEMA>;
export type Upstreams = XStatic<typeof UPSTREAMS_SCHEMA>;

export type SignInStart = XStatic<typeof START_SCHEMA>;
export type StartedSignIn = XStatic<typeof STARTED_SCHEMA>;
export type SignIn = XStatic<typeof SIGN_IN_SCHEMA>;

export type Models = XStatic<typeof MODELS_SCHEMA>;
export type RouteExplanation = XStatic<typeof ROUTE_SCHEMA>;
export type ConfigSection = XStatic<typeof SECTION_SCHEMA>;
export type SettingOverride = ConfigSection['overrides'][string];
export type Environment = XStatic<typeof ENVIRONMENT_SCHEMA>;
export type EnvironmentVariable = Environment['variables'][number];
export type Presets = XStatic<typeof PRESETS_SCHEMA>;

/** Milliseconds since the epoch, or RFC 3339. */
export type Time = number | string;

export type ConsoleSession = XStatic<typeof SESSION_SCHEMA>;
export type Key = XStatic<typeof KEY_SCHEMA>;
export type KeyList = XStatic<typeof KEY_LIST_SCHEMA>;
export type CreatedKey = XStatic<typeof CREATED_KEY_SCHEMA>;
export type NewKey = XStatic<typeof NEW_KEY_SCHEMA>;
export type KeyChange = XStatic<typeof KEY_CHANGE_SCHEMA>;
export type AddressRule = XStatic<typeof ADDRESS_RULE_SCHEMA>;
export type AddressRuleList = XStatic<typeof ADDRESS_RULES_SCHEMA>;
export type NewAddressRule = XStatic<typeof NEW_ADDRESS_RULE_SCHEMA>;
export type AddressRuleChange = XStatic<typeof ADDRESS_RULE_CHANGE_SCHEMA>;
export type AddressCheck = XStatic<typeof ADDRESS_CHECK_SCHEMA>;
export type AccessLog = XStatic<typeof ACCESS_LOG_SCHEMA>;
export type AccessEntry = AccessLog['entries'][number];

export type RequestRow = RequestRowJson;
export type RequestList = RequestListJson;
export type AnswerBlock = TranscriptBlock;
/** The schema says of the blocks of an answer only that they are objects. */
export type RequestDetail = Omit<RequestDetailJson, 'response'> & {
  readonly response?: { readonly blocks: readonly AnswerBlock[]; readonly isWhole: boolean };
};
export type RequestAttempt = RequestDetail['attemptsList'][number];
export type ConsideredAccount = RequestAttempt['considered'][number];
export type ReceiptLine = RequestDetail['receiptEntries'][number];
export type BodyText = NonNullable<RequestDetail['clientRequest']>;
export type Replay = ReplayJson;
export type Usage = UsageJson;
export type UsageBucket = Usage['buckets'][number];
export type Overview = OverviewJson;
export type Attention = Overview['attention'][number];
export type LogPage = LogsJson;
export type LogLine = LogPage['lines'][number];
