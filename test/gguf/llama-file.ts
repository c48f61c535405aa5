// Shared by both fixture models: a llama architecture small enough to write in milliseconds, with a byte vocabulary
// that tokenises any text and a ChatML template.
import { writeGguf, type GgufKey, type GgufTensor } from '#inference/convert/gguf.ts'
import type { TensorFormat } from '#inference/convert/encodings.ts'

export type LlamaShape = {
  readonly name: string
  readonly layers: number
  readonly width: number
  readonly feedForward: number
  readonly heads: number
  readonly keyHeads: number
  readonly context: number
}

export type Vocabulary = { readonly tokens: string[]; readonly types: number[] }
/** Values of one tensor: `count` numbers, rows of `rowLength`. */
export type Fill = (name: string, count: number, rowLength: number) => Float32Array

// llama_token_type of llama.cpp.
const UNKNOWN = 2
const CONTROL = 3
const USER_DEFINED = 4
const UNUSED = 5
const BYTE = 6
const NORMAL = 1

const TEMPLATE =
  "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"

/**
 * All bytes, printable ASCII, the ChatML marks, then `pieces`; filled up to a multiple of 32. Pieces are
 * user-defined tokens: their text is taken as it is, with spaces, not in SentencePiece's form.
 */
export function vocabularyOf(pieces: readonly string[], sizeLeast = 0): Vocabulary {
  const tokens: string[] = []
  const types: number[] = []
  const add = (token: string, type: number) => {
    if (tokens.includes(token)) return
    tokens.push(token)
    types.push(type)
  }
  add('<unk>', UNKNOWN)
  add('<s>', CONTROL)
  add('</s>', CONTROL)
  for (let byte = 0; byte < 256; byte++) add(byteToken(byte), BYTE)
  add('\u2581', NORMAL)
  for (let code = 33; code < 127; code++) add(String.fromCharCode(code), NORMAL)
  add('<|im_start|>', CONTROL)
  add('<|im_end|>', CONTROL)
  for (const piece of pieces) add(piece, USER_DEFINED)
  const size = Math.ceil(Math.max(tokens.length, sizeLeast) / 32) * 32
  while (tokens.length < size) add(`<unused${tokens.length}>`, UNUSED)
  return { tokens, types }
}

/** True for a token of text, false for a mark. */
export const isText = ({ types }: Vocabulary, id: number): boolean =>
  [BYTE, NORMAL, USER_DEFINED].includes(types[id] ?? UNKNOWN)

export const byteToken = (byte: number): string =>
  `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`

/** Writes the model; returns its size in bytes. Norms are always ones in F32. */
export function writeLlama(
  file: string,
  model: { shape: LlamaShape; vocabulary: Vocabulary; format: TensorFormat; fill: Fill },
): number {
  const { shape, vocabulary, format, fill } = model
  const tensor = (name: string, ...dimensions: number[]): GgufTensor => {
    const norm = name.includes('norm')
    const count = dimensions.reduce((product, dimension) => product * dimension, 1)
    const rowLength = dimensions[0] ?? 0
    return {
      name,
      dimensions,
      format: norm ? 'f32' : format,
      values: () => (norm ? new Float32Array(count).fill(1) : fill(name, count, rowLength)),
    }
  }
  const { width, feedForward, layers } = shape
  const keyWidth = (width / shape.heads) * shape.keyHeads
  const size = vocabulary.tokens.length
  const tensors = [tensor('token_embd.weight', width, size)]
  for (let layer = 0; layer < layers; layer++) {
    const at = `blk.${layer}`
    tensors.push(
      tensor(`${at}.attn_norm.weight`, width),
      tensor(`${at}.attn_q.weight`, width, width),
      tensor(`${at}.attn_k.weight`, width, keyWidth),
      tensor(`${at}.attn_v.weight`, width, keyWidth),
      tensor(`${at}.attn_output.weight`, width, width),
      tensor(`${at}.ffn_norm.weight`, width),
      tensor(`${at}.ffn_gate.weight`, width, feedForward),
      tensor(`${at}.ffn_up.weight`, width, feedForward),
      tensor(`${at}.ffn_down.weight`, feedForward, width),
    )
  }
  tensors.push(tensor('output_norm.weight', width), tensor('output.weight', width, size))
  return writeGguf(file, keysOf(shape, vocabulary), tensors)
}

function keysOf(shape: LlamaShape, { tokens, types }: Vocabulary): GgufKey[] {
  return [
    ['general.architecture', 'string', 'llama'],
    ['general.name', 'string', shape.name],
    ['general.license', 'string', 'cc0-1.0'],
    ['llama.context_length', 'u32', shape.context],
    ['llama.embedding_length', 'u32', shape.width],
    ['llama.block_count', 'u32', shape.layers],
    ['llama.feed_forward_length', 'u32', shape.feedForward],
    ['llama.attention.head_count', 'u32', shape.heads],
    ['llama.attention.head_count_kv', 'u32', shape.keyHeads],
    ['llama.attention.layer_norm_rms_epsilon', 'f32', 1e-5],
    ['llama.rope.dimension_count', 'u32', shape.width / shape.heads],
    ['llama.vocab_size', 'u32', tokens.length],
    ['tokenizer.ggml.model', 'string', 'llama'],
    ['tokenizer.ggml.tokens', 'strings', tokens],
    ['tokenizer.ggml.scores', 'f32s', tokens.map(() => 0)],
    ['tokenizer.ggml.token_type', 'i32s', types],
    ['tokenizer.ggml.bos_token_id', 'u32', tokens.indexOf('<s>')],
    ['tokenizer.ggml.eos_token_id', 'u32', tokens.indexOf('<|im_end|>')],
    ['tokenizer.ggml.unknown_token_id', 'u32', tokens.indexOf('<unk>')],
    ['tokenizer.ggml.add_bos_token', 'bool', true],
    ['tokenizer.ggml.add_space_prefix', 'bool', false],
    ['tokenizer.chat_template', 'string', TEMPLATE],
  ]
}
