// Planted, with --import: the engine gets the grammars as they are, so that some of them wedge it.
import { registerHooks } from 'node:module'

const GBNF = new URL('gbnf.ts', import.meta.url).href
const PLANTED = `export { gbnfOf as deterministicGrammar } from '${GBNF}'`

registerHooks({
  load: (url, context, nextLoad) =>
    url.endsWith('/deterministic-grammar.ts')
      ? { format: 'module', source: PLANTED, shortCircuit: true }
      : nextLoad(url, context),
})
