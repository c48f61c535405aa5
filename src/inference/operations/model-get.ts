// GET /v1/models/{model}.
import { fault } from '#contract/errors.ts'
import type { Handler } from '#http/reply.ts'
import { AUTO } from '#inference/router/choose.ts'
import { autoEntry, entryOf, type EntryDeps } from './model-entry.ts'

/** One model; a failed one too, as its state says why it is not in the list. */
export const createModelGet =
  (deps: EntryDeps): Handler =>
  ({ parameters }) => {
    const model = parameters['model'] ?? ''
    const offers = deps.catalogue.models()
    const offer = offers.find(({ id }) => id === model)
    const entry = model === AUTO ? autoEntry(offers, deps) : offer && entryOf(offer, deps)
    if (entry === undefined)
      throw fault('model_not_found', `Could not find the model ${model}`, { param: 'model' })
    return {
      kind: 'known',
      status: 200,
      body: () => JSON.stringify(entry),
    }
  }
