// Agent sessions of a native client through the whole gateway.

import { generateClient } from './generate-client.ts';
import { testSessions } from './test-sessions.ts';

testSessions(generateClient);
