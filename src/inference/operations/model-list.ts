// GET /v1/models.
import type { Handler } from '#http/reply.ts'
import { autoEntry, entryOf, type EntryDeps } from './model-entry.ts'

/** Every model that answers or is about to, in OpenAI's list form, and `auto` while there is one. */
export const createModelList =
  (deps: EntryDeps): Handler =>
  () => {
    const served = deps.catalogue.models().filter(({ state }) => state !== 'failed')
    const auto = autoEntry(served, deps) ?? []
    const data = served.map((offer) => entryOf(offer, deps)).concat(auto)
    return {
      kind: 'known',
      status: 200,
      body: () => JSON.stringify({ object: 'list', data, has_more: false }),
    }
  }
