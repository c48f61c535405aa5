// POST /v1/storage/presigned: an address for one object, one method and some time.
import { z } from 'zod'
import { ownObject } from '#contract/values/own-object.ts'
import { parseWith } from '#contract/values/parse.ts'

/** AWS: seven days. */
export const EXPIRES_MAX_S = 604_800

export const presignRequest = ownObject({
  bucket: z.string().min(3).max(63),
  key: z.string().min(1).max(1024),
  method: z.enum(['GET', 'PUT']).default('GET'),
  expires_s: z.int().min(1).max(EXPIRES_MAX_S).default(3600),
})
export type PresignRequest = z.output<typeof presignRequest>

export const presignReply = z.object({
  url: z.url(),
  method: z.enum(['GET', 'PUT']),
  expires_at: z.iso.datetime(),
  /** The id of the key that signed the address: the id is no secret. */
  access_key_id: z.string(),
})

/** Throws invalid_request. */
export const parsePresignRequest = (json: unknown): PresignRequest =>
  parseWith(presignRequest, json)
