// A llama with a scripted answer: a real model file for a real engine, whose weights spell one text. Each piece of
// the text is a token of its own; embeddings are one-hot, the feed-forward part is zero, and the output matrix leads
// from each piece to the next. A second text is said instead once the prompt holds a <tool_response>: attention finds
// only that token and carries the one bit.
import { byteToken, vocabularyOf, writeLlama, type Fill } from './llama-file.ts'

export type Script = {
  /** The answer to every prompt, at temperature 0 or near it. May hold <tool_call> blocks. */
  readonly says: string
  /** The answer when a tool's result is in the prompt. */
  readonly afterTool?: string
  readonly context?: number
}

const TOOL_RESPONSE = '<tool_response>'
const END = '<|im_end|>'
/** The last token of a ChatML prompt: the newline after "assistant". */
const START = byteToken(10)
/** Logits of 20 × √width between the next piece and all others: no sampling picks another. */
const CHAIN = 20
/** Where both answers could begin: the second has 15 without, 25 with a tool's result, the first 20. */
const SECOND = 15
const SWITCH = 10
/** The attention score of a tool's result; all other tokens have 0, so it has weight e²⁰ to their 1. */
const SCORE = 20
const HEADS = 8

/** Writes the model (a few MB); returns its size in bytes. Throws RangeError for an empty text. */
export function writeScriptedLlama(file: string, script: Script): number {
  const used = new Set<string>([TOOL_RESPONSE])
  const first = piecesOf(script.says, used)
  const second = script.afterTool === undefined ? [] : piecesOf(script.afterTool, used)
  const vocabulary = vocabularyOf([TOOL_RESPONSE, ...first, ...second], 512)
  // The unused last token's dimension holds "a tool has answered".
  const width = Math.ceil((vocabulary.tokens.length + 1) / 64) * 64
  const full = vocabularyOf([TOOL_RESPONSE, ...first, ...second], width)
  const idOf = (text: string): number => full.tokens.indexOf(text)
  const flag = width - 1
  const links = [...linksOf(first), ...linksOf(second)]
  const fill: Fill = (name, count, rowLength) => {
    const values = new Float32Array(count)
    const set = (row: number, column: number, value: number) => {
      values[row * rowLength + column] = value
    }
    if (name === 'token_embd.weight') for (let id = 0; id < width; id++) set(id, id, 1)
    // A normalised one-hot has the value √width, which each of these takes back.
    const unit = 1 / Math.sqrt(width)
    // The head's last pair of dimensions, which rotates slowest with the position (RoPE).
    const slow = width / HEADS - 2
    const factor = Math.sqrt(SCORE * Math.sqrt(width / HEADS))
    if (name.endsWith('attn_q.weight'))
      for (let id = 0; id < width; id++) set(slow, id, factor * unit)
    if (name.endsWith('attn_k.weight')) set(slow, idOf(TOOL_RESPONSE), factor * unit)
    if (name.endsWith('attn_v.weight')) set(0, idOf(TOOL_RESPONSE), unit)
    if (name.endsWith('attn_output.weight')) set(flag, 0, 1)
    if (name === 'output.weight') {
      for (const [from, to] of links) set(idOf(to), idOf(from), CHAIN)
      if (second[0] !== undefined) {
        set(idOf(second[0]), idOf(START), SECOND)
        set(idOf(second[0]), flag, SWITCH)
      }
    }
    return values
  }
  const context = script.context ?? 4096
  const shape = { name: 'scripted-llama', layers: 1, width, feedForward: 32, context }
  return writeLlama(file, {
    shape: { ...shape, heads: HEADS, keyHeads: 1 },
    vocabulary: full,
    format: 'f32',
    fill,
  })
}

const linksOf = (pieces: readonly string[]): [string, string][] =>
  pieces.length === 0 ? [] : [START, ...pieces].map((piece, index) => [piece, pieces[index] ?? END])

/**
 * Words with the white space before them, each one new: a piece that was used before is joined with the
 * words after it, and at the end with those before it.
 */
function piecesOf(text: string, used: Set<string>): string[] {
  if (text === '') throw new RangeError('Could not script an empty text')
  const words = text.match(/\s*\S+|\s+$/g) ?? []
  const pieces: string[] = []
  let piece = ''
  for (const word of words) {
    piece += word
    // A single character is in the vocabulary already and leads elsewhere.
    if (used.has(piece) || piece.length < 2) continue
    used.add(piece)
    pieces.push(piece)
    piece = ''
  }
  while (piece !== '') {
    const before = pieces.pop()
    if (before === undefined) throw new RangeError('Could not script the text: it only repeats')
    used.delete(before)
    piece = before + piece
    if (used.has(piece)) continue
    used.add(piece)
    pieces.push(piece)
    piece = ''
  }
  return pieces
}
