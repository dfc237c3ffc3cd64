// Agent sessions of a chat client through the whole gateway.

import { chatClient } from './chat-client.ts';
import { testSessions } from './test-sessions.ts';

testSessions(chatClient);
