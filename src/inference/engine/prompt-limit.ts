// A prompt must leave room for at least one token: the engine would otherwise shift its context silently.
import { fault } from '#contract/errors.ts'

/** The most prompts of one request for completions: each has an answer of its own. */
export const PROMPTS_MAX = 16
/** Longer texts are refused before tokenising, which costs 0.5 to 1.6 µs per character. */
const CHARACTERS_PER_TOKEN_MAX = 64

const tooLong = (detail: string, param: string) =>
  fault('context_length_exceeded', `Could not fit the prompt into the context: ${detail}`, {
    param,
  })

export function assertCharacters(characters: number, contextSize: number, param: string): void {
  const most = contextSize * CHARACTERS_PER_TOKEN_MAX
  if (characters > most)
    throw tooLong(
      `${characters} characters, a context of ${contextSize} tokens takes ${most}`,
      param,
    )
}

/** The largest number of tokens that may be generated after a prompt, at most `wanted`. */
export function tokensLeft(
  promptTokens: number,
  contextSize: number,
  wanted: { readonly maxTokens: number | undefined; readonly param: string },
): number {
  const left = contextSize - promptTokens
  if (left < 1)
    throw tooLong(`${promptTokens} tokens, the context holds ${contextSize}`, wanted.param)
  return Math.min(wanted.maxTokens ?? left, left)
}
