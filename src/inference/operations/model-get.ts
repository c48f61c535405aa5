// GET /v1/models/{model}.
import type { Handler } from '#http/reply.ts'
import { AUTO } from '#inference/catalogue.ts'
import { unknownModel } from '#inference/router/choose.ts'
import { aliasEntry, autoEntry, entryOfOffer, type EntryDeps } from '#inference/model-entry.ts'

/** One model; a failed one too, as its state says why it is not in the list. */
export const createModelGet =
  (deps: EntryDeps): Handler =>
  ({ parameters }) => {
    const name = parameters['model'] ?? ''
    const model = deps.catalogue.modelOf(name)
    const offers = deps.catalogue.models()
    const offer = offers.find(({ id }) => id === model)
    const entry = model === AUTO ? autoEntry(offers, deps) : offer && entryOfOffer(offer, deps)
    if (entry === undefined) throw unknownModel(offers, name)
    return {
      kind: 'known',
      status: 200,
      body: () => JSON.stringify(name === model ? entry : aliasEntry(name, model, entry)),
    }
  }
