// The schemas and texts of the toy's routed operations.
import { json, ok, type Descriptions } from '#contract/description.ts'
import type { TOY } from './operations.ts'
import { countReply, countRequest } from '#contract/toy.ts'

export const TOY_DESCRIPTIONS: Descriptions<typeof TOY> = {
  'toy.count': {
    summary: 'Count up',
    request: countRequest,
    replies: ok('The greeting and the count', json(countReply)),
    refusals: ['toy_full'],
  },
}
