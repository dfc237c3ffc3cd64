// Agent sessions of a messages client through the whole gateway.

import { messagesClient } from './messages-client.ts';
import { testSessions } from './test-sessions.ts';

testSessions(messagesClient);
