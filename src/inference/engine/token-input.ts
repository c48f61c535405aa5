// Inputs that may be text or token ids: `prompt` of completions and `input` of embeddings.
import type { LlamaModel, Token } from 'node-llama-cpp'
import { listOf, refuse, textOf } from './fields.ts'

export type Input = string | readonly number[]

const TOKENS_MAX = 1 << 20

/** string | string[] | int[] | int[][] → one input per text or token list. */
export function readInputs(value: unknown, param: string, most: number): Input[] {
  if (typeof value === 'string') return [textOf(value, param)]
  const list = listOf(value, param, TOKENS_MAX)
  if (list.length === 0) throw refuse(param, 'it is empty')
  if (list.every((each) => typeof each === 'number')) return [list]
  if (list.length > most) throw refuse(param, `it has more than ${most} members`)
  return list.map((each, index) => {
    if (typeof each === 'string') return textOf(each, `${param}[${index}]`)
    return listOf(each, `${param}[${index}]`, TOKENS_MAX).map(Number)
  })
}

/** The tokens of an input. Text is plain: "[SEP]" or "<|im_end|>" in it is no control token. */
export function tokensOf(model: LlamaModel, input: Input, param: string): Token[] {
  if (typeof input === 'string') return model.tokenize(input)
  assertTokens(model, input, param)
  return input.map((id) => id as Token)
}

/** Ids of another vocabulary would make the engine read beyond its own. */
export function assertTokens(model: LlamaModel, ids: Iterable<number>, param: string): void {
  const size = model.fileInfo.metadata.tokenizer?.ggml?.tokens?.length ?? 0
  for (const id of ids)
    if (!Number.isInteger(id) || id < 0 || id >= size)
      throw refuse(param, `${id} is no token of this model, which has ${size}`)
}
