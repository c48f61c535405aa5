// All choices of a request at once: each is a generation of its own on a sequence of its own, and all
// spend on the request's one account.
import type { Token } from 'node-llama-cpp'
import type { CellWork } from './cell-engine.ts'
import { readChoice, type ChoiceEvent } from './choice.ts'
import type { Decoder } from './decoder.ts'
import type { Sampling } from './generation.ts'
import type { RequestGrammar } from './grammar/create-grammar.ts'
import type { Loaded } from './load-model.ts'
import { merge, type Tagged } from './merge.ts'
import type { CellUsage } from './usage.ts'

export type ChoicePlan = {
  readonly prompt: readonly Token[]
  readonly sampling: Sampling
  readonly grammar?: RequestGrammar
  /** The whole text is one JSON value, and ends with it. */
  readonly isJson?: boolean
  readonly stops: readonly string[]
  readonly maxTokens: number
  /** Only the first choice of a prompt counts its tokens, as OpenAI's usage does. */
  readonly countsPrompt: boolean
}

/** Runs all plans; every event leaves after its cost is in `work.usage`. */
export async function* runChoices(
  engine: { readonly decoder: Decoder; readonly loaded: Loaded },
  plans: readonly ChoicePlan[],
  work: CellWork,
): AsyncGenerator<Tagged<ChoiceEvent>, void, void> {
  const left = new AbortController()
  const signal = AbortSignal.any([work.signal, left.signal])
  const streams = plans.map((plan) => {
    const generation = engine.decoder.generate({
      ...plan,
      account: work.usage.account,
      payer: work.payer,
      signal,
    })
    return readChoice(engine.loaded.model, generation, plan)
  })
  try {
    for await (const tagged of merge(streams)) {
      count(work.usage, tagged.event, plans[tagged.index])
      engine.decoder.clock.settle()
      yield tagged
    }
  } finally {
    left.abort()
  }
}

function count(usage: CellUsage, event: ChoiceEvent, plan: ChoicePlan | undefined): void {
  if (event.kind === 'prefill') usage.promptTokens += plan?.countsPrompt === true ? event.tokens : 0
  else usage.completionTokens += event.tokens
}
