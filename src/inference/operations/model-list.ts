// GET /v1/models.
import type { Handler } from '#http/reply.ts'
import type { InferenceDeps } from '#inference/generation.ts'
import { entryOf } from './model-entry.ts'

/** Every model that answers or is about to, in OpenAI's list form. */
export const createModelList =
  (deps: Pick<InferenceDeps, 'catalogue' | 'learned'>): Handler =>
  () => {
    const data = deps.catalogue
      .models()
      .filter(({ state }) => state !== 'failed')
      .map((offer) => entryOf(offer, deps.learned))
    return {
      kind: 'known',
      status: 200,
      body: () => JSON.stringify({ object: 'list', data, has_more: false }),
    }
  }
