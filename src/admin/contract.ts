// The types of the admin API that the console shares, taken from the schemas of the routes.

import type { XStatic } from 'typebox/schema';
import type * as rules from '../access/ip-rules.ts';
import type { TranscriptBlock } from '../canonical/transcript.ts';
import type * as record from '../monitor/record.ts';
import type * as audit from './access/audit.ts';
import type * as budgets from './access/budgets.ts';
import type * as addresses from './access/ip-rules.ts';
import type * as keys from './access/keys.ts';
import type * as people from './access/people.ts';
import type * as session from './access/session.ts';
import type * as input from './account-input.ts';
import type * as transfer from './account-transfer.ts';
import type * as accounts from './accounts.ts';
import type * as environment from './config/config.ts';
import type * as sections from './config/sections.ts';
import type * as models from './models.ts';
import type * as alerts from './monitor/attention.ts';
import type * as requests from './monitor/requests.ts';
import type * as monitor from './monitor/schemas.ts';
import type * as shared from './schemas.ts';
import type * as signIns from './sign-ins.ts';
import type * as tests from './try-account.ts';

export type { ErrorKind } from '../canonical/error.ts';
export type { QuirkPreset, UpstreamProfile } from '../config/values.ts';
export type { Sentence as Message } from '../lib/localized-message.ts';

export type ErrorAnswer = XStatic<typeof shared.ERROR_SCHEMA>;

export type Account = XStatic<typeof shared.ACCOUNT_SCHEMA>;
export type AccountList = XStatic<typeof shared.ACCOUNT_LIST_SCHEMA>;
export type AccountChange = XStatic<typeof accounts.CHANGE_SCHEMA>;
export type NewAccount = XStatic<typeof input.NEW_ACCOUNT_SCHEMA>;
export type AccountTest = XStatic<typeof tests.TEST_SCHEMA>;
export type AccountImport = XStatic<typeof transfer.IMPORT_SCHEMA>;
export type ImportedAccounts = XStatic<typeof transfer.IMPORTED_SCHEMA>;
export type ExportedAccounts = XStatic<typeof transfer.EXPORTED_SCHEMA>;
export type OrderedAccounts = XStatic<typeof accounts.ORDERED_SCHEMA>;
export type Revocation = XStatic<typeof accounts.REVOCATION_SCHEMA>;
export type Quota = XStatic<typeof shared.QUOTA_SCHEMA>;
export type Upstreams = XStatic<typeof accounts.UPSTREAMS_SCHEMA>;

export type SignInStart = XStatic<typeof signIns.START_SCHEMA>;
export type StartedSignIn = XStatic<typeof signIns.STARTED_SCHEMA>;
export type SignIn = XStatic<typeof signIns.SIGN_IN_SCHEMA>;

export type Models = XStatic<typeof models.MODELS_SCHEMA>;
export type Prices = XStatic<typeof models.PRICES_SCHEMA>;
export type RouteExplanation = XStatic<typeof models.ROUTE_SCHEMA>;
export type ConfigSection = XStatic<typeof sections.SECTION_SCHEMA>;
export type SettingOverride = ConfigSection['overrides'][string];
export type Environment = XStatic<typeof environment.ENVIRONMENT_SCHEMA>;
export type EnvironmentVariable = Environment['variables'][number];
export type Presets = XStatic<typeof sections.PRESETS_SCHEMA>;

/** Milliseconds since the epoch, or RFC 3339. */
export type Time = number | string;

export type ConsoleSession = XStatic<typeof session.SESSION_SCHEMA>;
export type Budget = XStatic<typeof budgets.BUDGET_SCHEMA>;
export type BudgetList = XStatic<typeof budgets.BUDGET_LIST_SCHEMA>;
export type NewBudget = XStatic<typeof budgets.NEW_BUDGET_SCHEMA>;
export type BudgetChange = XStatic<typeof budgets.BUDGET_CHANGE_SCHEMA>;
export type Key = XStatic<typeof keys.KEY_SCHEMA>;
export type KeyList = XStatic<typeof keys.KEY_LIST_SCHEMA>;
export type CreatedKey = XStatic<typeof keys.CREATED_KEY_SCHEMA>;
export type NewKey = XStatic<typeof keys.NEW_KEY_SCHEMA>;
export type KeyChange = XStatic<typeof keys.KEY_CHANGE_SCHEMA>;
export type Person = XStatic<typeof people.PERSON_SCHEMA>;
export type People = XStatic<typeof people.PEOPLE_SCHEMA>;
export type Role = Person['role'];
export type Invitation = XStatic<typeof people.INVITATION_SCHEMA>;
export type Invitations = XStatic<typeof people.INVITATIONS_SCHEMA>;
export type CreatedInvitation = XStatic<typeof people.CREATED_INVITATION_SCHEMA>;
export type OpenedInvitation = XStatic<typeof people.OPENED_INVITATION_SCHEMA>;
export type AcceptedInvitation = XStatic<typeof people.ACCEPTED_INVITATION_SCHEMA>;
export type AddressRule = XStatic<typeof rules.ADDRESS_RULE_SCHEMA>;
export type AddressRuleList = XStatic<typeof addresses.ADDRESS_RULES_SCHEMA>;
export type NewAddressRule = XStatic<typeof addresses.NEW_ADDRESS_RULE_SCHEMA>;
export type AddressRuleChange = XStatic<typeof addresses.ADDRESS_RULE_CHANGE_SCHEMA>;
export type AddressCheck = XStatic<typeof addresses.ADDRESS_CHECK_SCHEMA>;
export type AccessLog = XStatic<typeof audit.ACCESS_LOG_SCHEMA>;
export type AuditLog = XStatic<typeof audit.AUDIT_LOG_SCHEMA>;
export type AuditEntry = AuditLog['entries'][number];
export type AccessEntry = AccessLog['entries'][number];

export type RequestRow = XStatic<typeof record.REQUEST_ROW_SCHEMA>;
export type RequestList = XStatic<typeof monitor.REQUEST_LIST_SCHEMA>;
export type AnswerBlock = TranscriptBlock;
/** The schema says of the blocks of an answer only that they are objects. */
export type RequestDetail = Omit<XStatic<typeof monitor.REQUEST_DETAIL_SCHEMA>, 'response'> & {
  readonly response?: { readonly blocks: readonly AnswerBlock[]; readonly isWhole: boolean };
};
export type RequestAttempt = RequestDetail['attemptsList'][number];
export type RequestFallback = NonNullable<RequestDetail['fallbacks']>[number];
export type ConsideredAccount = RequestAttempt['considered'][number];
export type ReceiptLine = RequestDetail['receiptEntries'][number];
export type BodyText = NonNullable<RequestDetail['clientRequest']>;
export type RequestHistogram = XStatic<typeof requests.HISTOGRAM_SCHEMA>;
export type RequestErrors = XStatic<typeof requests.ERROR_GROUPS_SCHEMA>;
export type RunningRequests = XStatic<typeof requests.RUNNING_LIST_SCHEMA>;
export type RunningRequest = RunningRequests['requests'][number];
export type BodyRecording = XStatic<typeof requests.BODY_RECORDING_SCHEMA>;
export type RequestSession = XStatic<typeof requests.REQUEST_SESSION_SCHEMA>;
export type SessionTool = RequestSession['tools'][number];
export type Replay = XStatic<typeof monitor.REPLAY_SCHEMA>;
export type AlertList = XStatic<typeof alerts.ALERTS_SCHEMA>;
export type AlertDelivery = AlertList['deliveries'][number];
export type Latency = XStatic<typeof monitor.LATENCY_SCHEMA>;
export type LatencyFigures = Latency['all'];
export type Outcomes = XStatic<typeof monitor.OUTCOMES_SCHEMA>;
export type AccountOutcomes = Outcomes['accounts'][number];
export type Usage = XStatic<typeof monitor.USAGE_SCHEMA>;
export type UsageBucket = Usage['buckets'][number];
export type LeadingUsage = XStatic<typeof monitor.LEADING_USAGE_SCHEMA>;
export type Overview = XStatic<typeof monitor.OVERVIEW_SCHEMA>;
export type Attention = Overview['attention'][number];
export type LogPage = XStatic<typeof monitor.LOGS_SCHEMA>;
export type LogLine = LogPage['lines'][number];
