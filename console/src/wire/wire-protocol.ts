// The client protocols and surfaces that the console itself speaks.

export type WireProtocol = 'chat' | 'messages' | 'generate' | 'responses' | 'images';
