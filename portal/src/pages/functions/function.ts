// A function as the API shows it.
import type { ReplyOf } from '#console/client/operations.ts'

export type Deployed = ReplyOf<'GET /v1/functions/:function'>
export type Version = Deployed['versions'][number]
/** A run for an object or a time that failed as often as it is tried. */
export type Failure = ReplyOf<'GET /v1/functions/:function/failures'>['data'][number]
