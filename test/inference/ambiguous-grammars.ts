// Planted, with --import: the engine gets the grammars as they are, so that some of them wedge it.
import { registerHooks } from 'node:module'

const PLANTED = 'export const deterministicGrammar = (gbnf) => gbnf'

registerHooks({
  load: (url, context, nextLoad) =>
    url.endsWith('/deterministic-grammar.ts')
      ? { format: 'module', source: PLANTED, shortCircuit: true }
      : nextLoad(url, context),
})
