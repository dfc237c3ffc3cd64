// What the client protocols are called, in every language: with the name of the vendor, or without.
//
// A person who prefers neutral names sees no protocol, and nothing that is called after a protocol, under the name of a vendor:
// the texts of `neutral.ts` of each language replace those that have one. Names of other things stay as they are: programs
// and packages (Claude Code, OpenAI SDK), services that have keys of their own (Anthropic, Gemini API), the choices that the
// forms of other apps offer, and environment variables, paths and models.

export const protocols = {
  chat: 'OpenAI Chat',
  responses: 'OpenAI Responses',
  messages: 'Anthropic Messages',
  generate: 'Gemini generateContent',
  images: 'OpenAI Images',
} as const;

export const neutralProtocols: Readonly<Record<keyof typeof protocols, string>> = {
  chat: 'Chat',
  responses: 'Responses',
  messages: 'Messages',
  generate: 'Generate content',
  images: 'Images',
};
