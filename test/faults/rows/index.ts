// The fault matrix as a table: what one account meets, what the client gets, and how the account stands afterwards.

import { CREDENTIALS } from './credentials.ts';
import { LIMITS } from './limits.ts';
import { FAULTS } from './paths.ts';
import { REQUESTS } from './requests.ts';
import type { Row } from './row.ts';

export const ROWS: readonly Row[] = [...LIMITS, ...CREDENTIALS, ...REQUESTS, ...FAULTS];
