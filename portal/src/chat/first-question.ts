// The first request that pages propose: its body, and the command that sends it.
import { apiUrl } from '#console/client/api-url.ts'
import { codeOf } from './code.ts'

export const FIRST_QUESTION = {
  model: 'auto',
  messages: [{ role: 'user' as const, content: 'What is the capital of France?' }],
  max_tokens: 64,
}

/** For a terminal that has a token in ERGON_TOKEN. */
export const firstCommand = (): string =>
  codeOf.curl({ apiUrl: apiUrl(), token: undefined, body: FIRST_QUESTION })
