// Compares a model file with its description when it was added. A wrong description would not fail but answer
// nonsense, and be billed: an encoder chats in fragments, a chat model has no vector of a text.
import { fault } from '#contract/errors.ts'
import type { ModelConfig } from './model-config.ts'

/** Facts of the GGUF header. */
export type FileFacts = {
  readonly architecture: string
  /** The pooling of tokens into one vector; none: the file does not say. */
  readonly pooling: 'none' | 'vector' | 'rank'
  /** Each token sees those after it too, so it cannot write. */
  readonly isEncoder: boolean
  readonly dimensions: number
  /** Tokens that it was trained for, where the file says it. */
  readonly contextMax?: number
}

/**
 * The context to open. Throws invalid_request, in words for the operator who added the model, where it does not fit.
 */
export function fittingContext(facts: FileFacts, config: ModelConfig): number {
  const { architecture, pooling, isEncoder, contextMax } = facts
  const embeds = isEncoder || pooling === 'vector'
  if (pooling === 'rank') throw misfit(`it is a reranker (${architecture}), which cannot be served`)
  if (config.kind === 'chat' && embeds)
    throw misfit(`it is an embedding model (${architecture}): add it with --embedding`)
  if (config.kind === 'embedding' && !embeds)
    throw misfit(`it generates text (${architecture}) and has no embeddings: no --embedding`)
  if (config.dimensions !== undefined && config.dimensions !== facts.dimensions)
    throw misfit(`its vectors have ${facts.dimensions} numbers, not ${config.dimensions}`)
  if (contextMax === undefined || config.contextSize <= contextMax) return config.contextSize
  if (config.isContextAsked !== true) return contextMax
  throw misfit(`it was trained for ${contextMax} tokens: --context ${contextMax} is the most`)
}

const misfit = (why: string) => fault('invalid_request', `Could not serve the file: ${why}`)
