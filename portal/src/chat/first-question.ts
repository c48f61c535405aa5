// The first request that pages propose: its body, and the command that sends it.
import { useApiUrl } from '#console/client/api-url.ts'
import { codeOf } from './code.ts'

export const FIRST_QUESTION = {
  model: 'auto',
  messages: [{ role: 'user' as const, content: 'What is the capital of France?' }],
  max_tokens: 64,
}

/** For a terminal that has a token in ERGON_TOKEN. */
export const useFirstCommand = (): string =>
  codeOf.curl({ apiUrl: useApiUrl(), token: undefined, body: FIRST_QUESTION })
