// GET /v1/models.
import type { Handler } from '#http/reply.ts'
import { AUTO } from '#inference/catalogue.ts'
import { aliasEntry, autoEntry, entryOfOffer, type EntryDeps } from '#inference/model-entry.ts'

/**
 * Every model that answers or is loading, in OpenAI's list form, then `auto` while there is a model, then their aliases:
 * programs check here for their configured model.
 */
export const createModelList =
  (deps: EntryDeps): Handler =>
  () => {
    const served = deps.catalogue.models().filter(({ state }) => state !== 'failed')
    const entries = new Map(served.map((offer) => [offer.id, entryOfOffer(offer, deps)]))
    const auto = autoEntry(served, deps)
    if (auto !== undefined) entries.set(AUTO, auto)
    const aliases = [...deps.catalogue.aliases()].flatMap(([name, model]) => {
      const entry = entries.get(model)
      return entry === undefined ? [] : [aliasEntry(name, model, entry)]
    })
    return {
      kind: 'known',
      status: 200,
      body: () =>
        JSON.stringify({
          object: 'list',
          data: [...entries.values(), ...aliases],
          has_more: false,
        }),
    }
  }
