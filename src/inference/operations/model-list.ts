// GET /v1/models.
import type { Handler } from '#http/reply.ts'
import type { InferenceDeps } from '#inference/generation.ts'
import { autoEntry, entryOf } from './model-entry.ts'

/** Every model that answers or is about to, in OpenAI's list form, and `auto` while there is one. */
export const createModelList =
  (deps: Pick<InferenceDeps, 'catalogue' | 'learned'>): Handler =>
  () => {
    const served = deps.catalogue.models().filter(({ state }) => state !== 'failed')
    const auto = autoEntry(served, deps.learned) ?? []
    const data = served.map((offer) => entryOf(offer, deps.learned)).concat(auto)
    return {
      kind: 'known',
      status: 200,
      body: () => JSON.stringify({ object: 'list', data, has_more: false }),
    }
  }
