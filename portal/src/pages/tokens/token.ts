// A token as the API lists it.
import type { ReplyOf } from '#console/client/operations.ts'

export type Token = ReplyOf<'GET /v1/tokens'>['data'][number]
