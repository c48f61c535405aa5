// The engine's grammar of a request, with one reading of every beginning.
import type { Llama, LlamaGrammar } from 'node-llama-cpp'
import { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { deterministicGrammar } from './deterministic-grammar.ts'
import type { Grammar } from './grammar.ts'

/** Charges synchronous work to whom it is for. */
type Own = <T>(work: () => T) => T

export type RequestGrammar = {
  readonly grammar: LlamaGrammar
  /** The field of the request that it came from. */
  readonly param: string
}

/** Throws `invalid_request` for `param` where the grammar would be too large, or no text fits. */
export async function createGrammar(
  llama: Llama,
  grammar: Grammar,
  { param, own }: { readonly param: string; readonly own: Own },
): Promise<RequestGrammar> {
  const gbnf = own(() => deterministicGrammar(grammar, param))
  try {
    return { grammar: await own(() => llama.createGrammar({ grammar: gbnf })), param }
  } catch (cause) {
    if (cause instanceof ErgonError) throw cause
    throw fault('invalid_request', 'Could not make a grammar of the schema', { cause, param })
  }
}
