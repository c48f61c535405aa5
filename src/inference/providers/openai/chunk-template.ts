// Most chunks of a stream differ in one string: the token. The text before and after that string is kept from a chunk
// that was parsed and checked. By JSON's grammar, a later chunk with the same ends and a string without escapes between
// them has the same meaning as if it had been parsed, at a tenth of the CPU.
import { parseChunk, type Chunk } from './chunk.ts'

export type ChunkTemplate = {
  /** The token of a chunk that differs from the learned one in nothing else; undefined: parse it. */
  tokenOf(text: string): string | undefined
  /** Learns from a parsed chunk, unless one was learned or there is nothing to learn in it. */
  learn(text: string, chunk: Chunk): void
  /** The choice that the learned chunk is of. */
  index(): number
}

/** Quotes, backslashes and controls stand in a JSON string only as escapes (RFC 8259 §7). */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const ESCAPED = /["\\\u0000-\u001f]/
/** Chunks without a template after which a stream counts as of another form. */
const ATTEMPTS_MAX = 4
const PROBE = 'ergon-probe'

export const isPlain = (text: string): boolean => !ESCAPED.test(text)

export function createChunkTemplate(shape: 'chat' | 'text'): ChunkTemplate {
  let attempts = 0
  let learned:
    | { readonly before: string; readonly after: string; readonly index: number }
    | undefined
  return {
    index: () => learned?.index ?? 0,
    tokenOf(text) {
      if (learned === undefined) return undefined
      const { before, after } = learned
      if (text.length <= before.length + after.length) return undefined
      if (!text.startsWith(before) || !text.endsWith(after)) return undefined
      const token = text.slice(before.length, text.length - after.length)
      return isPlain(token) ? token : undefined
    },
    learn(text, chunk) {
      if (learned !== undefined || attempts >= ATTEMPTS_MAX) return
      const token = onlyToken(chunk, shape)
      if (token === undefined || token === '' || !isPlain(token)) return
      attempts++
      const from = valueAt(text, shape === 'chat' ? 'content' : 'text', token)
      if (from === undefined) return
      const [before, after] = [text.slice(0, from), text.slice(from + token.length)]
      // A field of that name may stand elsewhere: what is replaced must be what is read.
      if (onlyToken(parseChunk(`${before}${PROBE}${after}`, shape), shape) !== PROBE) return
      learned = { before, after, index: chunk.choices[0]?.index ?? 0 }
    },
  }
}

/** Where the last field of that name begins whose value is that string. */
function valueAt(text: string, name: string, value: string): number | undefined {
  for (const colon of [':', ': ']) {
    const opening = `"${name}"${colon}"`
    const at = text.lastIndexOf(`${opening}${value}"`)
    if (at >= 0) return at + opening.length
  }
  return undefined
}

/** The text of a chunk that holds one choice with nothing but a text. */
function onlyToken(chunk: Chunk, shape: 'chat' | 'text'): string | undefined {
  const [choice] = chunk.choices
  if (choice === undefined || chunk.choices.length > 1) return undefined
  if (chunk.usage !== undefined || chunk.ergon !== undefined || chunk.error !== undefined)
    return undefined
  if (choice.finish !== undefined || choice.logprobs !== null) return undefined
  if (Object.keys(choice.delta).length > 1) return undefined
  return (shape === 'chat' ? choice.delta.content : choice.delta.text) ?? undefined
}
